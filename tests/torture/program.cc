// SPDX-License-Identifier: BSD-3-Clause
// Exceptions, threads and streams; ends with an exception that nobody catches.
#include <atomic>
#include <condition_variable>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

struct Noisy {
	int n;
	~Noisy()
	{
		if (n % 10 == 0)
			destroyed++;
	}
	static std::atomic<int> destroyed;
};
std::atomic<int> Noisy::destroyed;

static void deep(int n)
{
	Noisy noisy{n};
	if (n == 0)
		throw std::out_of_range("bottom");
	deep(n - 1);
}

static int work(int i)
{
	int caught = 0;
	for (int round = 0; round < 200; round++)
		try {
			try {
				if (round % 2)
					std::vector<int>(5).at(round + i + 5);
				deep(20);
			} catch (const std::out_of_range &) {
				std::throw_with_nested(std::runtime_error("nested"));
			}
		} catch (const std::exception &error) {
			caught += error.what()[0];
		}
	return caught;
}

static void take_turns()
{
	std::mutex mutex;
	std::condition_variable condition;
	std::map<std::string, int> map;
	std::vector<std::thread> threads;
	int turn = 0;
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&, i] {
			std::unique_lock<std::mutex> lock(mutex);
			condition.wait(lock, [&] { return turn == i; });
			map["thread " + std::to_string(i)] = turn++;
			condition.notify_all();
		});
	for (auto &thread : threads)
		thread.join();
	for (auto &[name, n] : map)
		std::cout << name << ' ' << n << '\n';
}

int main()
{
	std::vector<std::future<int>> futures;
	for (int i = 0; i < 8; i++)
		futures.push_back(std::async(std::launch::async, work, i));
	for (auto &future : futures)
		std::cout << future.get() << '\n';
	take_turns();
	try {
		std::async(std::launch::async, [] { throw std::logic_error("thread"); }).get();
	} catch (const std::logic_error &error) {
		std::cout << error.what() << ' ' << Noisy::destroyed << std::endl;
	}
	std::stringstream stream("1 2.5 x");
	stream.exceptions(std::ios::failbit);
	try {
		int a, b, c;
		stream >> a >> b >> c;
	} catch (const std::ios_base::failure &) {
		std::regex pairs("(\\w)-(\\w)");
		std::cout << std::regex_replace("a-b c-d", pairs, "$2+$1") << std::endl;
	}
	std::thread([] { throw 5; }).join();
}
