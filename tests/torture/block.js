// SPDX-License-Identifier: BSD-3-Clause
// One block of the node workload (prepare.sh repeats it; @N@ is its number).
(() => {
	const words = Array.from({length: 500}, (_, i) => `w${(i * @N@) % 89}`);
	const count = new Map();
	for (const word of words)
		count.set(word, (count.get(word) ?? 0) + 1);
	console.log('block @N@', [...count].sort().slice(0, 3));
	class Base { constructor(n) { this.n = n; } get twice() { return this.n * 2; } }
	class Derived extends Base { toString() { return `${this.twice}!`; } }
	console.log(String(new Derived(@N@)), 2n ** 100n + @N@n, Math.sin(@N@).toFixed(12));
	try {
		null.nothing;
	} catch (error) {
		console.log(error instanceof TypeError);
	}
	const sorted = new Float64Array(1000).map((_, i) => (i * 7919 * @N@) % 1009).sort();
	console.log(sorted[500], JSON.stringify({a: [1, {b: @N@}]}), 'x'.padStart(@N@ % 10 + 1));
	const hash = crypto.createHash('sha256').update(words.join()).digest('hex');
	const packed = zlib.gzipSync(words.join(' '));
	console.log(hash, zlib.gunzipSync(packed).toString() === words.join(' '));
	function* squares() { for (let i = 0; i < 5; i++) yield i * i * @N@; }
	console.log([...squares()], 'a-b-c'.replace(/(\w)-(\w)/g, '$2+$1'));
	let hot = 0;
	for (let i = 0; i < 200000; i++)
		hot = (hot * 31 + i * @N@) | 0;
	console.log(hot);
	later.push(async () => {
		await new Promise(resolve => setImmediate(resolve));
		await fs.promises.writeFile('file.@N@', words.join('\n'));
		console.log('read @N@', (await fs.promises.readFile('file.@N@')).length);
	});
})();
