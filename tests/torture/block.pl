# SPDX-License-Identifier: BSD-3-Clause
# One block of the Perl workload (prepare.sh repeats it; @N@ is its number).
{
	my @words = map { "word" . ($_ * @N@ % 97) } 1 .. 200;
	my %count;
	$count{$_}++ for @words;
	my @order = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
	print "block @N@: $order[0] $count{$order[0]} ", scalar(@order), "\n";
	my $text = join ' ', @words;
	(my $changed = $text) =~ s/word(\d+)/sprintf "%04x", $1 * 3/ge;
	print length $changed, ' ', unpack('%32C*', $changed), ' ', ($changed =~ tr/0-9//), "\n";
	print "$1-$2\n" if $text =~ /(word\d)\s+(?<name>word\d+)/ && $+{name};
	my $result = eval { die {code => @N@, text => "thrown"}; 1 };
	print "caught $@->{code} $@->{text}\n" unless $result;
	local $SIG{ALRM} = sub { die "alarm\n" };
	eval { kill ALRM => $$; 1 while 1; };
	print "signal: $@";
	my $pid = fork // die "fork: $!";
	if (!$pid) { exit(@N@ % 50) }
	waitpid $pid, 0;
	print "child: ", $? >> 8, "\n";
	open my $pipe, '-|', 'echo', 'from a pipe', @N@ or die;
	print "pipe: $_" while <$pipe>;
	close $pipe;
	my $packed = pack 'NnCa8w/a*', @N@, @N@ * 2, 7, 'fixed', "rest @N@";
	print join(',', unpack('NnCa8w/a*', $packed)), "\n" =~ s/\0//gr;
	printf "%.10f %.6e %s\n", sin(@N@), exp(-@N@ / 10), 2**0.5 * @N@;
	my $nested = {list => [1, [2, [3, {deep => @N@}]]], code => sub { $_[0] * @N@ }};
	print $nested->{list}[1][1][1]{deep}, ' ', $nested->{code}->(6), "\n";
	local $Data::Dumper::Sortkeys = 1;
	print Data::Dumper->new([{a => [1 .. 3], b => \"ref @N@"}])->Indent(0)->Dump, "\n";
	print md5_hex($text), ' ', sha1_base64($text), ' ', encode_base64("text @N@");
	print strftime('%Y-%m-%d', gmtime(86400 * @N@)), ' ', sum(map { $_ ** 2 } 1 .. @N@), "\n";
	open my $file, '>:utf8', "file.@N@" or die;
	print $file "line $_ \x{e9}\x{20ac}\n" for 1 .. 50;
	close $file;
	print -s "file.@N@", " bytes\n";
	tie my @lines, 'Tie::File', "file.@N@" or die;
	splice @lines, 5, 40;
	print scalar(@lines), " lines left\n";
	untie @lines;
	unlink "file.@N@" or die;
	my $recursive; $recursive = sub { $_[0] < 2 ? 1 : $_[0] * $recursive->($_[0] - 1) };
	print Math::BigInt->new(2)->bpow(100 + @N@), ' ', $recursive->(12), "\n";
	print sprintf('%vd', '1.22.@N@'), ' ', lc(uc "MiXeD@N@"), ' ', ucfirst reverse('abc'), "\n";
}
