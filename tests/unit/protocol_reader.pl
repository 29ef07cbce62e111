#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# protocol_reader.pl PAGE PRIORS LOCKSTEP_PRIORS PARTIAL_PRIORS: a second reader of packets, written from
# docs/reference/protocol.md alone, to see that the page is enough. Reads lines `format S fallx fally fallz keep rotates
# spins`, `packet HEX` and `control HEX` and prints what it finds. Lines `from N`, `state TICK HIGH LOW` and `astray N
# TICK` give the sender of the following lines, the digest of a state, and the client whose states differ from a tick
# on: with them sums and chains of digests are computed as the page says, and compared.
use strict;
use warnings;
use integer;
no warnings 'portable';

my ($page, @priors_files) = @ARGV;
my (@priors, %offset, %dims);
sub read_models { # the models of one table of the page, and where they begin
    my ($head, $file) = @_;
    my $total = @priors;
    open my $in, '<', $file or die "$file: $!\n";
    while (<$in>) { s{//.*}{}; push @priors, $1 while /(\d+),/g }
    open $in, '<', $page or die;
    my $on = 0;
    while (<$in>) {
        $on = 1 if /^\| $head \| dimensions/;
        next unless $on;
        last if /^$/;
        next unless /^\| (\w+) \| (\d[\d ]*) \|/;
        my ($name, @d) = ($1, split ' ', $2);
        $offset{$name} = $total;
        $dims{$name} = \@d;
        my $size = 1;
        $size *= $_ for @d;
        $total += $size;
    }
    die "$head models: $total, priors: " . scalar(@priors) . "\n" unless $total == @priors;
}
read_models('array', $priors_files[0]);
read_models('lockstep array', $priors_files[1]);
# Rows of symbols, for packets of some bodies.
my %rows;
sub read_rows {
    open my $in, '<', shift or die;
    my $text = join '', grep { !m{^//} } <$in>;
    while ($text =~ /uint16_t (\w+)[^=]*=\s*\{(.*?)\};/gs) { my ($name, $row) = ($1, $2); $rows{$name} = [$row =~ /(\d+)/g] }
    open $in, '<', $page or die;
    while (<$in>) {
        next unless /^\| (partial_\w+) \| (\d[\d ]*) \|/;
        $dims{$1} = [split ' ', $2];
        my $size = 1;
        $size *= $_ for @{$dims{$1}};
        die "$1: $size\n" unless $size == @{$rows{$1}};
    }
}
read_rows($priors_files[2]);
sub model { # the number of a model, or of the first of a row
    my ($name, @i) = @_;
    my $at = 0;
    for my $k (0 .. $#{$dims{$name}}) { $at = $at * $dims{$name}[$k] + ($i[$k] // 0) }
    return $offset{$name} + $at;
}

my ($S, @fall, $KEEP, $rotates, $spins);
my (@bytes, $at, $range, $code, $beyond, @fast, @slow);
sub byte { return shift @bytes if @bytes; die "short\n" if ++$beyond > 12; return 0 }
sub refill { while ($range < 1 << 24) { $range <<= 8; $code = $code << 8 | byte() } }
sub bit {
    my $m = shift;
    my $share = ($fast[$m] + $slow[$m]) >> 1;
    $share = 64 if $share < 64;
    $share = 65471 if $share > 65471;
    my $bound = ($range >> 16) * $share;
    my $bit = $code >= $bound ? 1 : 0;
    if ($bit) { $code -= $bound; $range -= $bound; $fast[$m] -= $fast[$m] >> 5; $slow[$m] -= $slow[$m] >> 7 }
    else { $range = $bound; $fast[$m] += (65535 - $fast[$m]) >> 5; $slow[$m] += (65535 - $slow[$m]) >> 7 }
    refill();
    return $bit;
}
sub raw {
    my ($n, $v) = (shift, 0);
    for (1 .. $n) {
        $range >>= 1;
        my $bit = $code >= $range ? 1 : 0;
        $code -= $range if $bit;
        $v = $v << 1 | $bit;
        refill();
    }
    return $v;
}
sub place { my $n = shift; my $unit = $range >> $n; return least($code / $unit, (1 << $n) - 1) }
sub span {
    my ($n, $begin, $size) = @_;
    my $unit = $range >> $n;
    $code = ($code - $unit * $begin) & 0xffffffff;
    $range = $unit * $size;
    refill();
}
sub symbol {
    my ($name, @i) = @_;
    my $row = 0;
    my $wide = $dims{$name}[-1];
    for my $k (0 .. $#{$dims{$name}} - 1) { $row = $row * $dims{$name}[$k] + $i[$k] }
    my @begins = @{$rows{$name}}[$row * $wide .. $row * $wide + $wide - 1];
    my ($p, $s) = (place(12), 0);
    for (0 .. $wide - 2) { $s = $_ if $begins[$_] <= $p && $begins[$_ + 1] > $p }
    span(12, $begins[$s], $begins[$s + 1] - $begins[$s]);
    return $s;
}
sub raw_bits { my $n = shift; return 0 unless $n; my $v = place($n); span($n, $v, 1); return $v }
sub wide { my $n = shift; my $high = $n > 16 ? raw_bits($n - 16) : 0; return $high << 16 | raw_bits(least($n, 16)) }
sub length_number {
    my $n = shift;
    return $n if $n < 2;
    my $r = $n - 1;
    my $l = least($r, 8);
    my $high = raw_bits($r - $l);
    return 1 << $r | $high << $l | raw_bits($l);
}
sub len { my ($x, $n) = (abs shift, 0); while ($x) { $x >>= 1; $n++ } return $n }
sub least { return $_[0] < $_[1] ? $_[0] : $_[1] }
sub clamp { my ($x, $a, $b) = @_; return $x < $a ? $a : $x > $b ? $b : $x }
sub wrap { my $x = $_[0] & 0xffffffff; return $x >= 1 << 31 ? $x - (1 << 32) : $x }
sub over { my ($a, $b) = @_; return $a < 0 ? -(($b / 2 - $a) / $b) : ($a + $b / 2) / $b }
sub number {
    my ($L, $last, $s, $M) = @_;
    my $n = 0;
    $n++ while $n < 32 && bit($L + least($n, $last));
    return 0 unless $n;
    my $negative = bit($s);
    my ($c, $modelled) = (1, least($n - 1, 3));
    for (1 .. $modelled) { $c = 2 * $c + bit($M + 7 * least($n, $last) + $c - 1) }
    my $rest = $n - 1 - $modelled;
    $c = $c << $rest | raw($rest);
    return wrap($negative ? -$c : $c);
}

# -- prediction ---------------------------------------------------------------------------------------
my ($n, $keep, $reach, @gained, @fallen);
sub course {
    $n = shift;
    ($keep, $reach, @gained[0 .. 2], @fallen[0 .. 2]) = (1 << 16, 0, (0) x 6);
    for (1 .. least($n, 64)) {
        $keep = $keep * $KEEP >> 16;
        $reach += $keep;
        for my $k (0 .. 2) { $gained[$k] = over(($gained[$k] + $fall[$k] * 1024) * $KEEP, 1 << 16); $fallen[$k] += $gained[$k] }
    }
    $reach ||= 1;
}
sub drift { my ($b, $k, $falls) = @_; return $b->{v}[$k] ? over($b->{v}[$k] * $reach + ($falls ? $fallen[$k] : 0), 1 << (16 + $S)) : 0 }
sub root { my ($x, $r) = (shift, 0); return 0 if $x <= 0; for (my $t = 512; $t; $t >>= 1) { $r += $t if ($r + $t) ** 2 <= $x } return $r }
sub four {
    my ($b, @q, $rest) = (shift);
    my @o = @{$b->{o}};
    $rest = 522242;
    for my $i (0 .. 3) { next if $i == $b->{l}; $q[$i] = 2 * shift(@o) - 511; $rest -= $q[$i] * $q[$i] }
    $q[$b->{l}] = root($rest);
    return @q;
}
sub product {
    my ($a, $b) = @_;
    my ($s, $t, $u, $v) = @$a;
    my ($w, $x, $y, $z) = @$b;
    return map { over(256 * $_, 185002) } ($s * $w - $t * $x - $u * $y - $v * $z, $s * $x + $t * $w + $u * $z - $v * $y,
        $s * $y - $t * $z + $u * $w + $v * $x, $s * $z + $t * $y - $u * $x + $v * $w);
}
sub turned {
    my $b = shift;
    my @t = map { clamp(over($_ * $reach, 1 << 20), -400, 400) } @{$b->{s}};
    my $far = abs($t[0]) | abs($t[1]) | abs($t[2]);
    my @q = four($b);
    @q = product([root(522242 - $t[0] ** 2 - $t[1] ** 2 - $t[2] ** 2), @t], \@q) if $far;
    return ($far, @q);
}
sub same { return "@{$_[0]}" eq "@{$_[1]}" }
sub follow {
    my ($b, $c) = @_;
    my (@v, @s);
    @v = @s = (0, 0, 0);
    return (\@v, \@s) unless $n;
    for my $k (0 .. 2) {
        my $move = wrap($c->{p}[$k] - $b->{p}[$k]) or next;
        my $first = over(clamp($move, -(1 << 24), 1 << 24) * (1 << (16 + $S)) - $fallen[$k], $reach);
        $v[$k] = clamp(over($first * $keep + $gained[$k], 1 << 16), -2147483647, 2147483647);
    }
    if ($spins && $rotates && ($b->{l} != $c->{l} || !same($b->{o}, $c->{o}))) {
        my ($w, @x) = four($b);
        my @t = product([four($c)], [$w, map { -$_ } @x]);
        my $sign = $t[0] < 0 ? -16 : 16;
        @s = map { clamp(over($sign * $_, $n), -6400, 6400) } @t[1 .. 3];
    }
    return (\@v, \@s);
}

# -- bodies -------------------------------------------------------------------------------------------
my (%snapshots, @recent, $changed, @last, @missed, $hung, $fell);
sub none { return {p => [0, 0, 0], v => [0, 0, 0], s => [0, 0, 0], l => 0, o => [0, 0, 0], f => 0, i => 0} }
sub side { my $d = shift; return $d == 0 ? 0 : $d > 0 ? 1 : 2 }
sub body {
    my ($b, $listed) = @_; # `listed`: the packet names the body, so no bit says that it changed
    my $kind = !($b->{f} & 1) ? 3 : $b->{f} & 2 ? 2 : $b->{f} & 12 ? 1 : 0;
    my ($speed, @d) = (0, 0, 0, 0);
    if (grep { $_ } @{$b->{v}}) {
        @d = map { drift($b, $_, $fell <= 2 * $hung) } 0 .. 2;
        $speed = 1 + least(len(abs($d[0]) | abs($d[1]) | abs($d[2])) / 2, 3);
    }
    my $near = 0;
    if ($changed && !$listed) {
        my $f = 0;
        $f |= abs wrap($b->{p}[$_] - $changed->{p}[$_]) for 0 .. 2;
        $near = $f < 256 ? 3 : $f < 512 ? 2 : $f < 2048 ? 1 : 0;
    }
    my $differs = $listed || bit(model('changed', $kind, $speed, $recent[0] + $recent[1] + 3 * $near));
    @recent = ($recent[1], $differs);
    return $b unless $differs;
    $changed = $b;
    my $c = none();
    $c->{f} = $b->{f};
    if (bit(model('flags_changed', $kind, $speed))) { $c->{f} ^= bit(model('flag_changed', $_)) << $_ for 0 .. 7 }
    $c->{i} = bit(model('incarnation_changed')) ? raw(8) : $b->{i};
    return $c unless $c->{f} & 1 or $c->{f} = 0;
    my ($hit, $before) = (0, 0);
    if (bit(model('moved', $kind, $speed))) {
        my @e = $kind == 3 ? @last : @{$b->{p}};
        @d = (0, 0, 0) if $kind == 3;
        for my $k (0 .. 2) {
            my ($z, $v) = ($k == 2 ? 1 : 0, least(len($d[$k]), 9));
            my $x = number(model('length', $z, $v, $before), 12, model('sign', $z, $v, side($d[$k])), model('mantissa', $z));
            $c->{p}[$k] = wrap($e[$k] + $d[$k] + $x);
            my $now = 1 + least(len($x), 7);
            $before = $now if $now > $before;
        }
        $hit = $before;
        if ($kind != 3 && $speed > 0) {
            my @off = (0, 0);
            for my $k (0 .. 2) {
                $off[$_] += least(abs wrap($c->{p}[$k] - $b->{p}[$k] - drift($b, $k, $_)), 1 << 20) for 0, 1;
            }
            $hung += $off[0] - $hung / 8;
            $fell += $off[1] - $fell / 8;
        }
    } else { $c->{p} = [@{$b->{p}}] }
    ($c->{l}, $c->{o}) = ($b->{l}, [@{$b->{o}}]);
    if ($rotates && bit(model('turned', $speed, $hit > 0 ? 1 : 0))) {
        my ($far, @q) = turned($b);
        my $l = 0;
        for (1 .. 3) { $l = $_ if abs $q[$_] > abs $q[$l] }
        my $o = bit(model('largest_changed', $hit));
        $l = (bit(model('largest', 0)) ? $l + 3 : $l + 1 + bit(model('largest', 1))) & 3 if $o;
        my $sign = $q[$l] < 0 ? -1 : 1;
        my @from = map { clamp(($sign * $q[$_] + 512) / 2, 0, 511) } grep { $_ != $l } 0 .. 3;
        my $r = least((len($far) + 1) / 2, 3);
        $before = 0;
        for my $k (0 .. 2) {
            my $t = $l == $b->{l} ? $from[$k] - $b->{o}[$k] : 0;
            my $x = number(model('turn_length', $r, $hit, $before), 9, model('turn_sign', side($t), $hit), model('turn_mantissa', $o));
            $c->{o}[$k] = ($from[$k] + $x) & 511;
            my $now = 1 + least(len($x), 7);
            $before = $now if $now > $before;
        }
        $c->{l} = $l;
    }
    my ($v, $s) = follow($b, $c);
    if (bit(model('motion_unexpected'))) {
        my @guesses = ($b->{v}, $v, [map { wrap(2 * $v->[$_] - $b->{v}[$_]) } 0 .. 2]);
        my $best = 0;
        for (1, 2) { $best = $_ if $missed[$_] < $missed[$best] }
        $v = [@{$guesses[$best]}];
        $before = 0;
        for my $k (0 .. 2) {
            my $x = number(model('velocity_length', $before), 12, model('velocity_sign', $k == 2 ? 1 : 0), model('velocity_mantissa'));
            $v->[$k] = wrap($v->[$k] + $x);
            $before = 1 + least(len($x), 7);
        }
        for my $i (0 .. 2) {
            my $off = 0;
            $off += least(abs wrap($v->[$_] - $guesses[$i][$_]), 1 << 20) for 0 .. 2;
            $missed[$i] += $off - $missed[$i] / 8;
        }
        for my $k ($spins ? (0 .. 2) : ()) {
            my $x = ($s->[$k] + number(model('spin_length'), 12, model('spin_sign'), model('spin_mantissa'))) & 65535;
            $s->[$k] = $x >= 32768 ? $x - 65536 : $x;
        }
    }
    ($c->{v}, $c->{s}) = ($v, $s);
    return $c;
}

# -- packets ------------------------------------------------------------------------------------------
sub take { my ($n, $v) = (shift, 0); for my $i (0 .. $n - 1) { die "short\n" unless @bytes; $v |= shift(@bytes) << 8 * $i } return $v }
sub varint { my ($v, $shift, $b) = (0, 0); do { $b = take(1); $v |= ($b & 127) << $shift; $shift += 7 } while $b & 128; return $v }
sub begin_bodies {
    @fast = @slow = @priors;
    ($range, $code, $beyond, $changed) = (0xffffffff, 0, 0, undef);
    $code = $code << 8 | byte() for 1 .. 4;
    @recent = (0, 0);
    @last = @missed = (0, 0, 0);
    $hung = $fell = 0;
}
sub snapshot {
    my ($tick, $form, $bodies) = (take(4), varint(), varint());
    my ($first, $count) = (0, $bodies);
    unless ($form & 1) { take(4); ($first, $count) = (take(3), take(3)) }
    my $base = $form >> 1 ? $snapshots{$tick - ($form >> 1)} // die "no baseline\n" : [];
    course($form >> 1);
    begin_bodies();
    for my $slot ($first .. $first + $count - 1) {
        my $c = body($base->[$slot] // none());
        $snapshots{$tick}[$slot] = $c;
        show_body($tick, $slot, $c);
    }
}
sub show_body {
    my ($tick, $slot, $c) = @_;
    @last = @{$c->{p}} if $c->{f} & 1;
    print join(' ', $tick, $slot, $c->{f}, $c->{i}, @{$c->{p}}, @{$c->{v}}, $c->{l}, @{$c->{o}}, @{$c->{s}}), "\n";
}
# The greatest length, and three differences.
sub differences {
    my ($what, $h) = @_;
    return (0, 0, 0, 0) unless $h;
    my @n;
    for my $k (0 .. 2) {
        my $i = $k == 0 ? 0 : $k == 1 ? ($n[0] == $h ? 2 : 1) : $n[0] < $h ? 3 : $n[1] < $h ? 4 : 5;
        $n[$k] = $h == 14 ? least(raw_bits(6), 32) : $k == 2 && $n[0] < $h && $n[1] < $h ? $h : symbol('partial_axis', $what, $i, $h);
    }
    my $sum = $n[0] + $n[1] + $n[2];
    my @r;
    if ($sum <= 16) {
        my $all = raw_bits($sum);
        @r = ($all >> ($n[1] + $n[2]), $all >> $n[2] & ((1 << $n[1]) - 1), $all & ((1 << $n[2]) - 1));
    } else { @r = map { wide($_) } @n }
    return ($h, map { my $m = $n[$_] ? $r[$_] >> 1 | 1 << ($n[$_] - 1) : 0; $r[$_] & 1 ? -$m : $m } 0 .. 2);
}
sub part { # of a packet of some bodies
    my ($b, $age, $coarse) = @_;
    my $c = none();
    my $based = defined $b;
    my ($flags, $speed, @v) = ($based ? $b->{f} : 1, 0, 0, 0, 0);
    my $a = !$based || $age == 0 ? 0 : $age <= 3 ? 1 : least(len($age) - 1, 5);
    my $f = symbol('partial_flags', !$based ? 0 : $flags & 16 ? 2 : 1);
    ($c->{f}, $c->{i}) = $f == 2 ? (raw_bits(8), raw_bits(8)) : ($flags ^ ($f == 1 ? 16 : 0), $based ? $b->{i} : 0);
    return $c unless $c->{f} & 1 or $c->{f} = 0;
    my @e = $based ? @{$b->{p}} : @last;
    $b //= none();
    if (grep { $_ } @{$b->{v}}) {
        my $far = 0;
        for my $k (0 .. 2) {
            my $falls = 64 * abs $b->{v}[$k] > 8 * abs $fall[$k] ? 1 : 0;
            my $d = wrap(drift($b, $k, $falls));
            $far |= abs $d;
            $e[$k] = wrap($e[$k] + $d);
            $v[$k] = wrap(over($b->{v}[$k] * $keep + ($falls ? $gained[$k] : 0), 1 << 16));
        }
        $speed = 1 + least(len($far), 8);
    }
    my $scaled = sub { my $x = wrap(shift); return $coarse ? wrap($x + 2) >> 2 : $x };
    my ($h, @d) = differences(0, symbol('partial_place', $coarse, $speed, $a));
    my $times = $coarse ? 4 : 1;
    $c->{p} = [map { wrap($times * ($scaled->($e[$_]) + $d[$_])) } 0 .. 2];
    if ($rotates) {
        my ($far, @q) = turned($b);
        my $l = $b->{l};
        if ($far) { $l = 0; for (1 .. 3) { $l = $_ if abs $q[$_] > abs $q[$l] } }
        my $other = symbol('partial_largest', least($h, 1));
        $l = $l + $other & 3;
        my @from = @{$b->{o}};
        if ($far || $other) {
            my $sign = $q[$l] < 0 ? -1 : 1;
            @from = map { clamp(($sign * $q[$_] + 512) / 2, 0, 511) } grep { $_ != $l } 0 .. 3;
        }
        my (undef, @t) = differences(1, symbol('partial_turn', $coarse, $h, $a));
        $c->{l} = $l;
        $c->{o} = [map { $coarse ? (($from[$_] >> 2) + $t[$_] & 127) << 2 | 2 : $from[$_] + $t[$_] & 511 } 0 .. 2];
    }
    my (undef, @m) = differences(2, symbol('partial_motion', $coarse, $h, $a));
    $c->{v} = [map { wrap($times * ($scaled->($v[$_]) + $m[$_])) } 0 .. 2];
    if ($spins) {
        my (undef, @s) = differences(2, symbol('partial_motion', $coarse, $h, $a));
        $c->{s} = [map { my $x = $b->{s}[$_] + $s[$_] & 65535; $x >= 32768 ? $x - 65536 : $x } 0 .. 2];
    }
    return $c;
}
my %tracks; # by slot and tick
sub partial {
    my ($sequence, $tick, $next, $last_age, $after) = (take(4), take(4), 0, 0, 0);
    print "partial $sequence $tick\n";
    begin_bodies();
    while ((my $gap = symbol('partial_gap')) != 21) {
        my ($slot, $age) = ($next + length_number($gap), 0);
        $next = $slot + 1;
        $after += 2 if $gap == 0 && $after;
        my $w = symbol('partial_way', $after);
        my $coarse = $w >= 5 ? 1 : 0;
        $w -= 4 * $coarse;
        $after = $w ? 1 + $coarse : 0;
        unless ($w) { delete $tracks{$slot}; print "$tick $slot leaves\n"; next }
        if ($w == 2) { my ($newest) = sort { $b <=> $a } grep { $_ < $tick } keys %{$tracks{$slot}}; $age = $tick - ($newest // die "no baseline\n") }
        $age = $last_age if $w == 3;
        $age = $last_age = length_number(symbol('partial_age')) if $w == 4;
        course($age);
        my $c = part($age ? $tracks{$slot}{$tick - $age} // die "no baseline\n" : undef, $age, $coarse);
        $tracks{$slot}{$tick} = $c;
        show_body($tick, $slot, $c);
    }
}
sub signed { my ($n, $v) = @_; return $v >= 1 << (8 * $n - 1) ? $v - (1 << 8 * $n) : $v }
sub input {
    my ($newest, $tick, $shown, $clock, $count) = (take(4), take(4), take(2), take(4), take(1));
    my $has = $count >> 7;
    $count &= 127;
    $newest = 'none' if !$has;
    my $sequence = $count ? take(4) : 0;
    print "input $newest $tick $shown $clock $count\n";
    for my $i (0 .. $count - 1) {
        my $age = take(2);
        print join(' ', 'change', $sequence + $i, $tick - $age, (map { signed(1, take(1)) } 1 .. 4), take(2), take(2)), "\n";
    }
}
sub big { my ($n, $v) = (shift, 0); $v = $v << 8 | take(1) for 1 .. $n; return $v }
sub text { my $n = shift; return join '', map { chr take(1) } 1 .. $n }
my ($from, %states, %astray, %started, %sums, %asked, $summed, $linked) = (0);
$summed = $linked = 0;
sub item {
    my $t = take(1);
    return $t if $t < 0x80;
    return text($t & 31) if ($t & 0xe0) == 0xa0;
    return sprintf '%u', big(1 << ($t - 0xcc)) if $t >= 0xcc && $t <= 0xcf;
    return text(big(1)) if $t == 0xd9;
    return unpack 'H*', text(big($t == 0xc4 ? 1 : 2)) if $t == 0xc4 || $t == 0xc5;
    return sprintf '%.17g', unpack 'd>', text(8) if $t == 0xcb;
    return join ' ', map { item() } 1 .. ($t & 15) if ($t & 0xf0) == 0x90;
    return join ' ', map { item() } 1 .. big(2) if $t == 0xdc;
    die "msgpack $t\n";
}

# The fields of a message. Bins of sections 2 and 5 are read on if they have a separate form.
sub control {
    my $t = take(1);
    my $count = ($t & 0xf0) == 0x90 ? $t & 15 : $t == 0xdc ? big(2) : die "no array\n";
    my @fields = map { item() } 1 .. $count;
    die "left over\n" if @bytes;
    my $kind = $fields[0];
    my @runs = $kind == 8 ? unpack 'C*', pack 'H*', pop @fields : ();
    my @inner = unpack 'C*', pack 'H*', $kind == 7 || $kind == 8 || $kind == 10 || $kind == 11 || $kind == 22 || $kind == 23 ? pop @fields : '';
    if ($kind == 7) { my $sum = 0; $sum += $_ for @inner; push @fields, scalar(@inner), $sum }
    $started{$from} = $fields[1] if $kind == 9;
    print 'control ', join(' ', @fields), "\n";
    if (@runs) { @bytes = @runs; command_runs($fields[1]) }
    @bytes = @inner;
    if ($kind == 8) { block($fields[1]) }
    elsif ($kind == 22) { update() }
    elsif ($kind == 23) { commands_part(@fields[2, 3]) }
    elsif ($kind == 10) { question(@fields[1, 2]) }
    elsif ($kind == 11) { answer($fields[1]) }
}

# -- games ------------------------------------------------------------------------------------------------
sub short { return text(take(1)) }
sub real { return sprintf '%.17g', unpack 'd<', text(8) }
my ($slots, @bits) = (0); # bodies at most; bits of a byte that are not read yet
sub bits {
    my ($n, $v) = (shift, 0);
    for (1 .. $n) {
        unless (@bits) { @bits = split //, sprintf '%08b', take(1) }
        $v = $v << 1 | shift @bits;
    }
    return $v;
}
sub tags { # behind the first bit of a record
    my ($zeros, $next, $low, @recent) = (0, 0, 0, 0 .. 13);
    $zeros++ until bits(1);
    my $count = 1 << $zeros | bits($zeros);
    if ($count == 1) { $low = len($slots - 1) }
    else { $low++ while 1 << ($low + 1) <= int($slots / ($count + 1)) }
    for (1 .. $count) {
        my $above = 0;
        if ($count > 1) { $above++ while bits(1) }
        $next += ($above << $low) + bits($low);
        my ($place, $tag);
        if (!bits(1)) { $place = bits(1) }
        elsif (!bits(1)) { $place = 2 + bits(2) }
        elsif (!bits(1)) { $place = 6 + bits(3) }
        else { $tag = bits(bits(1) ? bits(1) ? 32 : 16 : 8) }
        $tag = splice @recent, $place // 13, 1 if defined $place;
        pop @recent unless defined $place;
        unshift @recent, $tag;
        print ' ', $next++, '=', $tag;
    }
    die "padding\n" if bits(scalar @bits);
}
sub update {
    my @names = qw(? var tags spawned despawned joint joint-broken gravity end);
    while (@bytes) {
        my $kind = take(1);
        if ($kind & 128) {
            @bits = split //, sprintf '%07b', $kind & 127;
            print '  tags';
            tags();
            print "\n";
            next;
        }
        print "  $names[$kind]";
        if ($kind == 1) {
            my ($key, $type) = (short(), take(1));
            print " $key ", $type == 0 ? 'removed' : $type == 1 ? take(8) : $type == 2 ? real() : short();
        } elsif ($kind == 3) { print ' ', join ' ', varint(), varint(), varint() }
        elsif ($kind == 4 || $kind == 6) { print ' ', varint() }
        elsif ($kind == 5) {
            my ($index, $form, $a, $b) = (varint(), take(1), varint(), varint());
            print join ' ', '', $index, $form, $a, $b ? $b - 1 : 'world', map { real() } 1 .. 6;
        } elsif ($kind == 7) { print ' ', join ' ', real(), real(), real() }
        elsif ($kind == 8) { print ' ', join ' ', short(), short() }
        else { die "record $kind\n" }
        print "\n";
    }
}
sub commands_part { # the head of a tick's commands; commands.md has the rest
    my ($offset, $total) = @_;
    my $sum = 0;
    $sum += $_ for @bytes;
    print "  ", $offset ? 'more' : 'from ' . varint(), " $sum\n";
    @bytes = ();
}
sub command_runs { # to the end of @bytes
    my ($tick, @with) = shift;
    while (@bytes) {
        $tick += varint();
        for (1 .. varint()) { push @with, $tick++ }
    }
    print "  commands @with\n";
}

# -- digests and the search -------------------------------------------------------------------------------
sub shifted { my ($x, $n) = @_; return ($x >> $n) & ((1 << (64 - $n)) - 1) }
sub mix {
    my $z = shift() + 0x9e3779b97f4a7c15;
    $z = ($z ^ shifted($z, 30)) * 0xbf58476d1ce4e5b9;
    $z = ($z ^ shifted($z, 27)) * 0x94d049bb133111eb;
    return $z ^ shifted($z, 31);
}
sub eight { return sprintf '%016x', take(8) }
sub check_sum { # of the digests that a client says it has stepped
    my ($stepped, $sum) = @_;
    my $start = $started{$from};
    return if !defined $start || $stepped <= $start || ($astray{$from} && $stepped >= $astray{$from});
    my $s = $sums{$from} //= {at => $start, sum => 0};
    $s = $sums{$from} = {at => $start, sum => 0} if $s->{at} > $stepped;
    while ($s->{at} < $stepped) {
        my $d = $states{++$s->{at}} or die "no state of $s->{at}\n";
        $s->{sum} += mix(mix($d->[0] + $s->{at}) ^ $d->[1]);
    }
    die "client $from, tick $stepped: another sum\n" unless $s->{sum} == $sum;
    $summed++;
}
sub check_link {
    my ($client, $first, $tick, $value) = @_;
    return if $tick >= ($astray{$client} // 0);
    my $link = 0;
    $link = mix(mix($link ^ $states{$_}[0]) ^ $states{$_}[1]) for $first .. $tick;
    die "tick $tick: another link\n" unless $link == $value;
    $linked++;
}
sub question {
    my ($number, $first) = @_;
    my ($letter, $tick) = (chr take(1), take(8));
    my @more = $letter eq 'R' ? (take(1), take(4), take(4), take(4)) : ();
    die "left over\n" if @bytes;
    $asked{$number} = [$letter, $first, $tick];
    print join(' ', "  asks $letter", $tick, @more), "\n";
}
sub answer {
    my ($letter, $first, $tick) = @{$asked{shift()}};
    if (!@bytes) { print "  knows not\n"; return }
    my @head = $letter eq 'L' ? take(2) : $letter eq 'R' ? (take(4), take(1)) : ();
    my @values = map { take(8) } 1 .. @bytes / 8;
    die "left over\n" if @bytes;
    my $layers = 0;
    if ($letter eq 'L') { $layers += $head[0] >> $_ & 1 for 0 .. 15 }
    die "count\n" unless @values == ($letter eq 'C' ? 1 : $letter eq 'L' ? $layers : $head[1]);
    check_link($from, $first, $tick, $values[0]) if $letter eq 'C';
    print join(' ', "  says", @head, map { sprintf '%016x', $_ } @values), "\n";
}

# -- lockstep -------------------------------------------------------------------------------------------
sub small {
    my ($M, $n) = (model(shift), 0);
    $n++ while $n < 15 && bit($M + $n);
    return $n ? 1 << ($n - 1) | raw($n - 1) : 0;
}
sub block {
    my ($tick, $count) = (shift, 0);
    return unless @bytes;
    $count = take(1);
    $count = $count & 127 | take(1) << 7 if $count & 128;
    @fast = @slow = @priors;
    ($range, $code, $beyond) = (0xffffffff, 0, 0);
    $code = $code << 8 | byte() for 1 .. 4;
    my ($player, %was);
    for my $i (1 .. $count) {
        if ($i == 1 || bit(model('other_tick'))) {
            $tick += small('gap') + ($i > 1 ? 1 : 0);
            $player = small('number');
        } else { $player += small('number') }
        if (bit(model('other_kind'))) {
            print "  $tick $player ", bit(model('leaves')) ? 'leaves' : 'joins', "\n";
            delete $was{$player};
            next;
        }
        my $k = $was{$player} ? 1 : 0;
        my @was = $k ? @{$was{$player}} : (0) x 5;
        my @now;
        for my $w (@was[0 .. 3]) {
            if (!bit(model('axis_differs', $k))) { push @now, $w }
            elsif ($w && !bit(model('axis_other', $k))) { push @now, 0 }
            elsif (!bit(model('axis_partial', $k))) { push @now, bit(model('axis_negative')) ? -127 : 127 }
            else { push @now, bit(model('axis_below')) ? $w - small('delta') : $w + small('delta') }
        }
        $now[4] = $was[4];
        if (bit(model('buttons_differ', $k))) { $now[4] ^= bit(model('button_flips', $_)) << $_ for 0 .. 15 }
        $was{$player} = [@now];
        print "  $tick $player @now\n";
    }
}
sub runs { return map { varint() . '+' . varint() } 1 .. take(1) }
sub relay {
    my ($end, $ticks) = (take(4), varint());
    print "relay $end $ticks\n";
    block($end - $ticks);
}
sub early {
    if (!@bytes) { print "asks for early inputs\n"; return }
    my ($first, $ticks) = (take(4), varint());
    print "early $first $ticks\n";
    block($first);
}
sub relay_commands {
    my ($end, @runs) = (take(4));
    push @runs, take(1) for 1 .. take(1);
    my $ticks = varint();
    print "relay $end $ticks\n";
    my @rest = @bytes;
    @bytes = @runs;
    command_runs($end - $ticks);
    @bytes = @rest;
    block($end - $ticks);
}
sub lockstep_input {
    my $next = take(4);
    my @runs = runs();
    my ($behind, $sum) = (varint(), take(8));
    my $digests = join '', map { sprintf '%02x', $sum >> 8 * $_ & 255 } 0 .. 7;
    check_sum($next - $behind, $sum);
    my ($ahead, $clock, $shown, $state, $back, $ticks) = (varint(), take(2), take(2), take(1), varint(), varint());
    print join(' ', 'step', $next, @runs, $behind, $digests, $ahead, $clock, $shown, $state, $back, $ticks), "\n";
    block($next + $ahead + 1 - $back - $ticks);
}
sub lockstep_status {
    my @head = (take(4), take(4), runs());
    print join(' ', 'standing', @head, take(4), take(1), take(4), signed(4, take(4)), take(2), take(2), take(4), take(4)), "\n";
}
while (my $line = <STDIN>) {
    my ($what, @rest) = split ' ', $line;
    if ($what eq 'format') { ($S, @fall[0 .. 2], $KEEP, $rotates, $spins) = map { $_ + 0 } @rest; next }
    if ($what eq 'bodies') { $slots = $rest[0]; next }
    if ($what eq 'from') { $from = $rest[0]; next }
    if ($what eq 'state') { $states{$rest[0]} = [map { hex } @rest[1, 2]]; next }
    if ($what eq 'astray') { $astray{$rest[0]} = $rest[1]; next }
    @bytes = unpack 'C*', pack 'H*', $rest[0];
    if ($what eq 'control') { control(); next }
    my $kind = take(1);
    if ($kind == 17) { snapshot() }
    elsif ($kind == 27) { partial() }
    elsif ($kind == 28) {
        my @came = (take(4), take(4), take(4));
        print join(' ', 'came', @came, map { signed(4, take(4)) } 1 .. 3 * take(1)), "\n";
    }
    elsif ($kind == 16) { input() }
    elsif ($kind == 19) { lockstep_input() }
    elsif ($kind == 20) { relay() }
    elsif ($kind == 24) { relay_commands() }
    elsif ($kind == 26) { early() }
    elsif ($kind == 21) { lockstep_status() }
    elsif ($kind == 18) { print join(' ', 'status', take(4), take(4), take(4), signed(4, take(4)), take(4), take(4), take(4)), "\n" }
    else { die "kind $kind\n" }
    die "left over\n" if @bytes;
}
print "compared $summed sums, $linked links\n" if %states;

