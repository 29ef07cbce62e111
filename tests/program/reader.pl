#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# reader.pl inputs|commands|orders|messages|rules|past|digests|bodies|contacts|flags|broken|session|scene FILE: a second
# reader of recordings, written from docs/reference/recording.md, commands.md, state.md and the canonical bytes of
# scenes.md alone, to see that the pages are enough. Inputs, commands, digests and bodies (at keyframes) as
# `foliot-replay export --what ...` prints them, the rest one line each. Whatever is asked, all of the file is read to
# its last byte, and the scene is held against the keyframe of tick 0. The fields of commands are read from the tables
# of commands.md.
use strict;
use warnings;

my ($what, $file) = @ARGV;
open my $in, '<:raw', $file or die "$file: $!\n";
my $bytes = do { local $/; <$in> };

# -- section 2: checksums, the start -----------------------------------------------------------------
my @table = map { my $c = $_; $c = $c & 1 ? ($c >> 1) ^ 0x82F63B78 : $c >> 1 for 1 .. 8; $c } 0 .. 255;

sub crc {
    my $c = 0xffffffff;
    $c = $table[($c ^ $_) & 255] ^ ($c >> 8) for unpack 'C*', shift;
    return $c ^ 0xffffffff;
}
die "crc\n" unless crc('123456789') == 0xE3069283;
die "start\n" unless substr($bytes, 0, 8) eq "\x89FOLIOT\n";
my ($version, $start_crc) = unpack 'x8 V V', $bytes;
die "start's crc\n" unless crc(substr $bytes, 0, 12) == $start_crc;
die "version $version\n" unless $version == 1;
my (%features, $world);

# -- msgpack ------------------------------------------------------------------------------------------
my ($payload, $at);
sub raw { my $n = shift; die "short\n" if $at + $n > length $payload; $at += $n; return substr $payload, $at - $n, $n }
sub big { my $v = 0; $v = $v * 256 + $_ for unpack 'C*', raw(shift); return $v }

sub value {
    my $tag = ord raw(1);
    return $tag if $tag <= 0x7f;
    return $tag - 256 if $tag >= 0xe0;
    return mapped($tag & 15) if $tag <= 0x8f;
    return [map { value() } 1 .. ($tag & 15)] if $tag <= 0x9f;
    return raw($tag & 31) if $tag <= 0xbf;
    return undef if $tag == 0xc0;
    return $tag - 0xc2 if $tag == 0xc2 || $tag == 0xc3;
    return raw(big(1 << $tag - 0xc4)) if $tag >= 0xc4 && $tag <= 0xc6;
    return unpack 'd>', raw(8) if $tag == 0xcb;
    return big(1 << $tag - 0xcc) if $tag >= 0xcc && $tag <= 0xcf;
    return unpack 'c', raw(1) if $tag == 0xd0;
    return unpack 's>', raw(2) if $tag == 0xd1;
    return unpack 'l>', raw(4) if $tag == 0xd2;
    return unpack 'q>', raw(8) if $tag == 0xd3;
    return raw(big(1 << $tag - 0xd9)) if $tag >= 0xd9 && $tag <= 0xdb;
    return [map { value() } 1 .. big(2 << $tag - 0xdc)] if $tag == 0xdc || $tag == 0xdd;
    return mapped(big(2 << $tag - 0xde)) if $tag == 0xde || $tag == 0xdf;
    die sprintf "tag %02x\n", $tag;
}
sub mapped { my %m; for (1 .. shift) { my $key = value(); $m{$key} = value() } return \%m }

# -- section 5 ----------------------------------------------------------------------------------------
my %player;    # sequence expected, axes, buttons, stream

sub put_input {
    my ($tick, $p, $kind) = @_;
    my $s = $player{$p};
    print join(',', $tick, $p, $s->{sequence}, $kind, @{$s->{axes}}, $s->{buttons}), "\n" if $what eq 'inputs';
    $s->{sequence} = ($s->{sequence} + 1) % 2**32;
}

sub inputs {
    my ($from, $to, @list) = @_;
    my %entries;    # by tick
    my $tick = $from;
    while (@list) {
        $tick += shift @list;
        my $place = shift @list;
        my ($p, $code) = ($place >> 3, $place & 7);
        my @change;
        if ($code != 4) {
            my $mask = shift @list;
            push @change, $mask, map { $mask >> $_ & 1 ? shift @list : undef } 0 .. 5;
        }
        push @{$entries{$tick}}, [$p, $code, @change];
    }
    for my $t ($from .. $to - 1) {
        my %has;
        $has{$_->[0]} = 1 for @{$entries{$t} || []};
        my @due = map { [$_, 'again'] } grep { $player{$_}{stream} && !$has{$_} } keys %player;
        # A stable sort keeps a player's own entries in their order.
        for my $entry (sort { $a->[0] <=> $b->[0] } @due, @{$entries{$t} || []}) {
            my ($p, $code, $mask, @new) = @$entry;
            my $s = $player{$p} ||= {sequence => 0, axes => [0, 0, 0, 0], buttons => 0, stream => 0};
            if ($code eq 'again') { put_input($t, $p, 'control'); next }
            if ($code != 4) {
                for (0 .. 3) { $s->{axes}[$_] = $new[$_] if defined $new[$_] }
                $s->{buttons} = $new[4] if defined $new[4];
                $s->{sequence} = $new[5] if defined $new[5];
                put_input($t, $p, $code == 2 ? 'join' : $code == 3 ? 'leave' : 'control');
            }
            $s->{stream} = $code == 1;
        }
    }
}

# -- section 6 and commands.md -------------------------------------------------------------------------
my (@kind, @field);    # names of kinds; fields of each: name, type, count, words or 'flag'

sub read_page {
    (my $page = $0) =~ s{tests/program/[^/]*$}{docs/reference/commands.md};
    open my $text, '<', $page or die "$page: $!\n";
    while (<$text>) {
        $kind[$1] = $2 if /^### (\d+) (\w+)/;
        last if /^## 3/;
        next unless /^\| (\d+) \| `(\w+)` \| (\w+)(?: x (\d))? \| (?:required|optional) \|[^|]*\| ([^|]*?) ?\|/;
        my ($bit, $name, $type, $count, $range) = ($1, $2, $3, $4 || 1, $5);
        my %word = reverse $range =~ /`(\w+)` (\d+)/g;
        $field[$#kind][$bit] = [$name, $type, $count, $range eq 'flag' ? {0, 'false', 1, 'true'} : \%word, $range eq 'flag'];
    }
}

my ($entries, $entry_at);
sub taken { my $n = shift; $entry_at += $n; die "entries: short\n" if $entry_at > length $entries; return substr $entries, $entry_at - $n, $n }
sub varint {
    my ($v, $shift, $byte) = (0, 0);
    do {
        $byte = ord taken(1);
        die "varint\n" if $shift > 63 || $byte == 0 && $shift > 0;
        $v |= ($byte & 127) << $shift;
        $shift += 7;
    } while $byte & 128;
    return $v;
}
sub zigzag { my $v = varint(); return $v & 1 ? -($v >> 1) - 1 : $v >> 1 }

# The digits that read back as the same bits.
sub shortest {
    my ($bytes, $as, @digits) = @_;
    my $v = unpack $as, $bytes;
    for my $n (@digits) { my $t = sprintf "%.${n}g", $v; return $t if pack($as, $t) eq $bytes }
    return sprintf "%.$digits[-1]g", $v;
}
sub quoted {
    my $text = shift;
    utf8::decode($text) or die "text\n";
    $text =~ s/(["\\])/\\$1/g;
    $text =~ s/([\p{Cc}\p{Cf}\p{Zl}\p{Zp}])/my $c = ord $1;
        $c > 0xffff ? sprintf '\\u%04x\\u%04x', 0xd7c0 + ($c >> 10), 0xdc00 + ($c & 0x3ff) : sprintf '\\u%04x', $c/ge;
    utf8::encode($text);
    return qq("$text");
}
my $wide; # reals of the command are binary64
sub command_value {
    my ($type, $words, $flag) = @_[1, 3, 4];
    if ($type eq 'u32') { my $v = varint(); return !exists $words->{$v} ? $v : $flag ? $words->{$v} : qq("$words->{$v}") }
    return zigzag() if $type eq 'i32' || $type eq 'i64';
    return shortest(taken(4), 'f<', 6 .. 9) if $type eq 'f32';
    return shortest(taken(8), 'd<', 15 .. 17) if $type eq 'f64' || $wide && $type eq 'real';
    return shortest(pack('d<', unpack 'f<', taken(4)), 'd<', 15 .. 17) if $type eq 'real';
    return quoted(taken(varint())) if $type eq 'text';
    my $slot = varint() or return 'null';
    return '[' . ($slot - 1) . ', ' . varint() . ']';
}
sub command {
    my ($kind, $given) = (ord taken(1), varint());
    $wide = $kind & 128;
    $kind &= 127;
    my $text = qq("command": "$kind[$kind]");
    die "command $kind\n" if $given >> @{$field[$kind]};
    for my $bit (0 .. $#{$field[$kind]}) {
        next unless $given >> $bit & 1;
        my @f = @{$field[$kind][$bit]};
        my @v = map { command_value(@f) } 1 .. $f[2];
        $text .= qq(, "$f[0]": ) . ($f[2] > 1 ? '[' . join(', ', @v) . ']' : $v[0]);
    }
    return $text;
}

my ($sequence_due, %order_due);
sub commands {
    my ($tick, $to) = @_;
    my @source = ('host', 'admin', 'rules');
    ($entries, $entry_at) = ($_[2], 0);
    while ($entry_at < length $entries) {
        $tick += varint();
        die "run's tick\n" unless $tick < $to;
        my $head = varint();
        $sequence_due = varint() if $head & 4;
        for (0 .. $head >> 3) {
            my $text = command();
            print qq({"tick": $tick, "sequence": $sequence_due, "source": "$source[$head & 3]", $text}\n) if $what eq 'commands';
            $sequence_due++;
        }
    }
}
sub orders {
    my ($tick, $to) = @_;
    ($entries, $entry_at) = ($_[2], 0);
    while ($entry_at < length $entries) {
        $tick += varint();
        die "order's tick\n" unless $tick < $to;
        my $place = varint();
        my $player = $place >> 4;
        my $sequence = $place & 1 ? varint() : $order_due{$player} || 0;
        $order_due{$player} = $sequence + 1;
        my $said = unpack 'H*', taken(varint());
        print join(',', $tick, $player, $sequence, ('game', 'chat', 'joined', 'left', 'aimed')[$place >> 1 & 7], $said), "\n" if $what eq 'orders';
    }
}

# -- scenes.md, canonical bytes -------------------------------------------------------------------------
my $inf = 9**9**9;
my $none = 2**32 - 1;
sub vector { my ($name, $values, @default) = @_; return map { ["$name.$_", 'd', shift @default] } split //, $values }
my @place = (0, 0, 0);
my @TOP = (['dt', 'd', 0], ['pace_hz', 'd', 0], ['substeps', 'V', 1], ['integrator', 'V', 2], ['start', 'V', 0], ['form', 'V', 0],
    ['tolerance', 'd', 1e-12], ['iterations_max', 'V', 50], ['constraint_iterations', 'V', 8], ['seed', 'Q', 1],
    vector('gravity', 'xyz', @place), ['speed_max', 'd', $inf], ['bodies_max', 'V', 0], ['sleep', 'flag', 0], ['commands_max', 'V', 0],
    ['joints_max', 'V', 0], ['script_low', 'Q', 0], ['script_high', 'Q', 0],
    ['history_ticks', 'V', 0], ['prototypes', 'V', 0]);
my @BODY = (['mass', 'd', 1], vector('inertia', 'xyz', @place), vector('position', 'xyz', @place),
    vector('velocity', 'xyz', @place), vector('orientation', 'wxyz', 1, 0, 0, 0), vector('angular_velocity', 'xyz', @place),
    vector('force', 'xyz', @place), ['friction', 'd', 0.5], ['restitution', 'd', 0], ['static', 'flag', 0], ['shape', 'V', 0],
    ['radius', 'd', 0], vector('half', 'xyz', @place), vector('normal', 'xyz', 0, 0, 1), ['offset', 'd', 0], ['kinematic', 'flag', 0],
    ['sensor', 'flag', 0], ['gravity_scale', 'd', 1], ['linear_damping', 'd', 0], ['angular_damping', 'd', 0], ['category', 'V', 1],
    ['mask', 'V', 2**32 - 1], ['group', 'V', 0], ['tag', 'V', 0]);
my @ends = (['a', 'V', $none], ['b', 'V', $none]);
my @FORCE = ([vector('acceleration', 'xyz', @place)],
    [$ends[0], vector('force', 'xyz', @place), ['start', 'd', 0], ['end', 'd', $inf]],
    [@ends, vector('point', 'xyz', @place), ['stiffness', 'd', 0], ['damping', 'd', 0], ['length', 'd', 0], ['damping_kind', 'V', 0]],
    [['linear', 'd', 0], ['quadratic', 'd', 0]], [['constant', 'd', 0], ['softening', 'd', 0]],
    [vector('point', 'xyz', @place), ['strength', 'd', 0]], [['number', 'V', 0]]);
my @CONSTRAINT = (['kind', 'V', 0], @ends, ['length', 'd', 0], ['length_min', 'd', 0], ['stiffness', 'd', 1],
    ['break_force', 'd', $inf], vector('anchor_a', 'xyz', @place), vector('anchor_b', 'xyz', @place), vector('axis', 'xyz', 0, 0, 1),
    ['angle_min', 'd', 1], ['angle_max', 'd', -1], ['motor_speed', 'd', 0], ['motor_torque', 'd', 0],
    ['break_torque', 'd', $inf], ['collides', 'flag', 0]);
my @PLAYERS = (['control', 'V', 1], ['force', 'd', 10], ['torque', 'd', 0], ['reach', 'd', 0], ['pull', 'd', 0],
    ['push', 'd', 0], ['jump', 'd', 0], ['bodiless', 'flag', 0]);

my ($scene, $scene_at);
sub some { my ($n, $as) = @_; $scene_at += $n; die "scene: short\n" if $scene_at > length $scene; return unpack $as, substr $scene, $scene_at - $n, $n }
sub u32 { return some(4, 'V') }
sub text { my $n = some(1, 'C'); return some($n, "a$n") }

# The values of a record: those before, and over them those whose bits are set.
sub record {
    my ($fields, %value) = @_;
    my $mask = some(8, 'Q<');
    for my $bit (0 .. $#$fields) {
        next unless $mask >> $bit & 1;
        my ($name, $type) = @{$fields->[$bit]};
        my $new = $type eq 'flag' ? !$value{$name} + 0 : $type eq 'V' ? u32() : some(8, "$type<");
        die "scene: $name is written and does not differ\n" if $new == $value{$name} && $new != 0; # -0 is another 0
        $value{$name} = $new;
    }
    die "scene: mask\n" if @$fields < 64 && $mask >> @$fields;
    return %value;
}
sub defaults { return map { ($_->[0], $_->[2]) } @{$_[0]} }
sub say_record { # what differs from the defaults
    my ($title, $fields, %value) = @_;
    return unless $what eq 'scene';
    my @said = map { my ($n, undef, $d) = @$_; $d == $value{$n} ? () : sprintf ' %s=%.17g', $n, $value{$n} } @$fields;
    print $title, @said, "\n";
}

my (%top, @bodies, @starts, %spawn, $constraints, $players);
sub scene {
    ($scene, $scene_at) = (shift, 0);
    die "scene: magic\n" unless join(' ', some(6, 'a4v')) eq 'FSCN 1';
    my @texts = map { text() } 1 .. 4;
    print "scene @texts\n" if $what eq 'scene';
    say_record('top', \@TOP, %top = record(\@TOP, defaults(\@TOP)));
    my %before = %spawn = defaults(\@BODY);
    for my $i (1 .. u32()) {
        my $name = text();
        %before = record(\@BODY, %before);
        push @bodies, {%before};
        say_record("body $name", \@BODY, %before);
    }
    my @force = map { {defaults($_)} } @FORCE;
    for (1 .. u32()) {
        my $kind = some(1, 'C');
        $force[$kind] = {record($FORCE[$kind], %{$force[$kind]})};
        say_record("force $kind", $FORCE[$kind], %{$force[$kind]});
    }
    %before = defaults(\@CONSTRAINT);
    for (1 .. ($constraints = u32())) {
        %before = record(\@CONSTRAINT, %before);
        say_record('constraint', \@CONSTRAINT, %before);
    }
    if ($players = u32()) {
        say_record("players $players", \@PLAYERS, record(\@PLAYERS, defaults(\@PLAYERS)));
        say_record('spawn', \@BODY, %spawn = record(\@BODY, %spawn));
        for (1 .. u32()) { my @at = map { some(8, 'd<') } 1 .. 3; push @starts, @at; print "at @at\n" if $what eq 'scene' }
    }
    my %prototype = defaults(\@BODY);
    for (1 .. $top{prototypes}) {
        my $name = text();
        %prototype = record(\@BODY, %prototype);
        say_record("prototype $name", \@BODY, %prototype);
    }
    die "scene: bytes behind the end\n" unless $scene_at == length $scene;
}

# Encoding 1: one zstd frame and the size of the state.
sub unpacked {
    my ($frame, $size) = @_;
    my $packed = "/tmp/foliot-reader-$$";
    open my $out, '>:raw', $packed or die "$packed: $!\n";
    print $out $frame;
    close $out;
    my $state = `zstd -dcq <$packed`;
    unlink $packed;
    die "keyframe: not $size bytes\n" unless length $state == $size;
    return $state;
}

# -- section 7 ----------------------------------------------------------------------------------------
my ($frame, $frame_at);
sub many { my ($width, $count, $as) = @_; $frame_at += $width * $count; die "keyframe: short\n" if $frame_at > length $frame;
    return unpack "($as)$count", substr $frame, $frame_at - $width * $count, $width * $count }

sub contacts {
    my ($tick, $n, $flags) = @_;
    my @before = (-1, -1);
    for (1 .. many(4, 1, 'V')) {
        my ($low, $high, @feature) = many(4, 6, 'V');
        my ($push, @rest) = ([many(4, 4, 'f<')], many(4, 4, 'f<'));
        die "contact: $low, $high\n" unless $low < $high && $high < $n && $flags->[$low] & 1 && $flags->[$high] & 1;
        die "contacts: order\n" unless $low > $before[0] || $low == $before[0] && $high > $before[1];
        for (1 .. 3) { die "features: order\n" unless $feature[$_] > $feature[$_ - 1] || $feature[$_] == $none }
        for (0 .. 3) { die "contact: push\n" if $push->[$_] < 0 || $feature[$_] == $none && $push->[$_] != 0 }
        print join(',', $tick, $low, $high, @feature, map { sprintf '%.9g', $_ } @$push, @rest), "\n" if $what eq 'contacts';
        @before = ($low, $high);
    }
}

# state.md, "Session"
sub closed { my $text = shift; die "text\n" unless $text =~ s/\0+\z// && $text !~ /\0/; return $text }
sub session {
    my ($tick, $n, $limit, $made) = @_;
    my ($variables, $ended, $joints, $zero) = many(4, 4, 'V');
    die "session\n" unless $joints == $made && $ended <= 1 && $zero == 0;
    my @gravity = many(8, 3, 'd<');
    my ($reason, $next) = (closed(many(256, 1, 'a256')), closed(many(256, 1, 'a256')));
    my @tag = many(4, $n, 'V');
    my @driven = many(4, $limit, 'V');
    my @type = many(4, $variables, 'V');
    many(4, $variables, 'V');
    my @value = many(8, $variables, 'a8');
    my @key = map { closed($_) } many(64, $variables, 'a64');
    my @said = map { closed($_) } many(256, $variables, 'a256');
    for my $i (1 .. $#key) { die "keys: order\n" unless $key[$i - 1] lt $key[$i] }
    many(200, $made, 'a200');
    return unless $what eq 'session';
    printf "%d,end %d %s %s,gravity %.9g %.9g %.9g,tags %s,driven %s,joints %d", $tick, $ended, $reason, $next, @gravity, "@tag", "@driven", $made;
    for my $i (0 .. $#key) {
        printf ',%s=%s', $key[$i], $type[$i] == 1 ? unpack('q<', $value[$i]) : $type[$i] == 2 ? unpack('d<', $value[$i]) : $said[$i];
    }
    print "\n";
}

my %now; # the bodies of the last keyframe
sub keyframe {
    my ($tick, $k) = @_;
    ($frame, $frame_at) = ($k, 0);
    my ($own_tick) = many(8, 5, 'Q<');
    die "keyframe's tick\n" unless $own_tick == $tick;
    many(8, 2, 'd<');
    my ($n, $truth) = many(4, 2, 'V');
    my %field;
    for my $bit (0 .. 22) {
        my ($width, $as) = $bit == 22 ? (4, 'V') : (8, $bit >= 16 ? 'q<' : 'd<');
        $field{$bit} = [$truth >> $bit & 1 ? many($width, $n, $as) : ($bit == 6 ? 1 : 0) x $n];
    }
    my $limit = many(4, 1, 'V');
    die "players\n" unless $limit == $players;
    for (1 .. $limit) {
        my ($slot, @rest) = (many(4, 1, 'V'), many(1, 4, 'c'), many(2, 2, 'v'));
        next if $rest[5] && $slot == $none; # a command took the body, or none was spawned
        die "player\n" unless $rest[5] ? $field{22}[$slot] & 16 : $slot == $none;
    }
    contacts($tick, $n, $field{22});
    my @definition = map { [many(8, $n, 'd<')] } 0 .. 13;
    my ($shape, $generation) = ([many(4, $n, 'V')], [many(4, $n, 'V')]);
    many(8, 3 * $n, 'd<');
    many(4, 4 * $n, 'V');
    my $links = many(4, 1, 'V');
    die "constraints\n" unless $links == $constraints || $top{commands_max} && $links > $constraints;
    my @broken = many(1, $links, 'C');
    session($tick, $n, $limit, $links - $constraints);
    die "keyframe: bytes behind the end\n" unless $frame_at == length $frame;
    against_scene(\%field, \@definition, $shape) if $tick == 0;
    %now = (%field, generation => $generation, slots => $n);
    print "$tick,", join(',', @{$field{22}}), "\n" if $what eq 'flags';
    print "$tick,", join(',', @broken), "\n" if $what eq 'broken';
    return if $what ne 'bodies';
    for my $i (0 .. $n - 1) {
        next unless $field{22}[$i] & 1;
        print join(',', $tick, $i, map { sprintf '%.17g', $field{$_}[$i] } 0 .. 12), "\n";
    }
}

# The first keyframe is what the scene says.
sub against_scene {
    my ($field, $definition, $shape) = @_;
    for my $i (0 .. $#bodies) {
        my %b = %{$bodies[$i]};
        my @motion = map { $field->{$_}[$i] } 0 .. 5;
        my @said = map { $b{"position.$_"} } qw(x y z);
        push @said, map { $b{"velocity.$_"} } qw(x y z);
        my @kept = map { $definition->[$_][$i] } 4 .. 9; # force x y z, friction, restitution, radius
        my @wants = ((map { $b{"force.$_"} } qw(x y z)), $b{friction}, $b{restitution}, $b{radius});
        my @size = map { $definition->[$_][$i] } 10 .. 12;
        my @half = map { $b{($b{shape} == 2 ? 'normal' : 'half') . ".$_"} } qw(x y z);
        die "body $i is not the scene's: @motion @kept @size, not @said @wants @half\n"
            unless "@motion @kept @size" eq "@said @wants @half" && $shape->[$i] == $b{shape} &&
            ($field->{22}[$i] >> 1 & 1) == $b{static};
    }
}

# -- sections 3, 4, 7, 8 ------------------------------------------------------------------------------
# rules.md, "The state as bytes". The last tick of the past is compared with the keyframe before it.
sub number { return unpack $_[1], taken($_[0]) }
sub signed { my $v = varint(); my $d = $v & 1 ? -($v + 1) / 2 : $v / 2; my $sum = ($_[0] + $d) % 2**32; return $sum >= 2**31 ? $sum - 2**32 : $sum }
sub rounded { my $x = shift; return int($x < 0 ? $x - 0.5 : $x + 0.5) }
sub changes { # how many, and then the slots
    my ($count, $next, $body) = (varint(), 0, pop);
    for (1 .. $count) { my $slot = $next + varint(); $next = $slot + 1; die "past: slot\n" if $slot >= $_[0]; $body->($slot) }
}
sub past_tick {
    my ($body, $pose) = @_;
    my $slots = varint();
    changes($slots, sub { $body->[$_[0]] = [(map { number(8, 'd<') } 1 .. 13), map { number(4, 'V') } 1 .. 7] });
    changes($slots, sub {
        my $b = $pose->[$_[0]] || [(0) x 10];
        my @n = map { signed($b->[$_] + int($b->[3 + $_] / 4)) } 0 .. 2;
        $pose->[$_[0]] = [@n, map { signed($b->[$_]) } 3 .. 9];
    });
    return $slots;
}
sub past {
    my ($tick, $state) = @_;
    ($entries, $entry_at) = ($state, 0);
    die "rules: version\n" unless number(1, 'C') == 1;
    taken(number(1, 'C'));
    number(4, 'V');
    return if number(1, 'C'); # stopped
    taken(32);
    command() for 1 .. number(4, 'V');
    taken(number(4, 'V'));
    if ($top{history_ticks}) {
        my $now = number(8, 'Q<');
        my @aim = map { number(2, 'v') } 1 .. $players;
        my $length = number(4, 'V');
        die "past: length\n" unless $length == length($entries) - $entry_at;
        my ($format, $ticks, $count, $oldest) = (number(1, 'C'), number(1, 'C'), number(1, 'C'), number(8, 'Q<'));
        die "past: head\n" unless $format == 1 && $ticks == $top{history_ticks} && $count <= $ticks;
        my (@body, @pose, $slots);
        $slots = past_tick(\@body, \@pose) for 1 .. $count;
        die "past: not up to now\n" unless $now == $tick && ($count == 0 || $oldest + $count - 1 == $now);
        my ($extent, $step) = (1, 2**-16);
        for ((map { my $b = $_; map { $b->{"position.$_"} } qw(x y z) } @bodies), @starts) { $extent = abs if abs > $extent }
        $step *= 2 while $step < 2**-9 && 2 * $step <= $extent * 2**-14;
        for my $i (0 .. ($count ? $slots - 1 : -1)) {
            my $flags = $now{22}[$i];
            die "past: generation of $i\n" unless $body[$i] ? $body[$i][14] == $now{generation}[$i] : $now{generation}[$i] == 0;
            next unless ($flags & 3) == 1;
            my @at = map { rounded($now{$_}[$i] / $step) } 0 .. 2;
            die "past: body $i is at @{$pose[$i]}[0 .. 2], not at @at\n" unless "@{$pose[$i]}[0 .. 2]" eq "@at";
            print join(',', $tick, $count, $i, @at, @aim), "\n" if $what eq 'past';
        }
    }
    die "rules: bytes behind the end\n" unless $entry_at == length $entries;
}
sub rules { # their state
    my ($tick, $encoding, $state, $size) = @_;
    $state = unpacked($state, $size) if $encoding;
    past($tick, $state) if $what eq 'past';
    print "$tick,", unpack('H*', $state), "\n" if $what eq 'rules';
}

read_page();
my ($position, $number, $reached, $closed, %offset_of, %digest) = (16, 0, 0, 0);
print "tick,player,sequence,kind,x,y,z,turn,buttons\n" if $what eq 'inputs';
print "tick,digest\n" if $what eq 'digests';
while ($position < length $bytes) {
    die "bytes after the end\n" if $closed;
    my $header = substr $bytes, $position, 28;
    my ($magic, $length, $own, $tick, $payload_crc, $header_crc) = unpack 'a4 V V Q< V V', $header;
    die "block $number: header\n" unless $magic eq "\xfeBlk" && crc(substr $header, 0, 24) == $header_crc;
    $payload = substr $bytes, $position + 28, $length;
    die "block $number: payload\n" unless length $payload == $length && crc($payload) == $payload_crc;
    die "block $number: number\n" unless $own == $number;
    my $from = $number ? $reached : $tick;
    my @entries;
    for ($at = 0; $at < $length;) {
        my ($type, @v) = @{value()};
        if ($type == 1) {
            $features{$_} = 1 for @{$v[0]{features}};
            die "features\n" if grep { !/^(simulation|rules|history)$/ } keys %features;
            $world = !$features{simulation};
            my $key = $world ? 'scene' : 'setup';
            die "header\n" unless $v[0]{tick} == $tick && length $v[0]{$key};
            scene($v[0]{scene}) if $world;
            die "history\n" if $world && !$features{history} != !($features{rules} && $top{history_ticks});
            print join(',', @{$v[0]}{qw(rules_name rules_version rules_text rules_build)}), "\n" if $what eq 'rules' && $features{rules};
            die "dt, seed\n" unless !$world || $v[0]{dt} == $top{dt} && $v[0]{seed} == $top{seed};
        } elsif ($type == 2) {
            %player = %order_due = ();
            $sequence_due = 0;
            $offset_of{$tick} = $position;
            $digest{$tick} ||= unpack 'H*', $v[1] if $number == 1;
            die "encoding\n" unless $v[2] == 0 || $v[2] == 1;
            my $state = $v[2] ? unpacked($v[3], $v[4]) : $v[3];
            keyframe($v[0], $state) if $world;
        } elsif ($type == 3) {
            die "inputs\n" unless shift @v == $from;
            @entries = @v;
        } elsif ($type == 4) {
            my ($first, $every, $each, $all) = @v;
            for my $i (0 .. length($all) / $each - 1) {
                $digest{$first + $i * $every} = unpack 'H*', substr $all, $i * $each, $each;
            }
        } elsif ($type == 5) {
            $closed = 1;
        } elsif ($type == 6) {
            my ($t, $o) = (0, 0);
            while (@v) {
                $t += shift @v;
                $o += shift @v;
                die "index\n" unless defined $offset_of{$t};
            }
        } elsif ($type == 7) {
            die "end\n" unless $v[0] == $position;
        } elsif ($type >= 8 && $type <= 10) {
            die "record $type: tick\n" unless $v[0] == ($type == 10 ? $tick : $from);
            $type == 8 ? commands($from, $tick, $v[1]) : $type == 9 ? orders($from, $tick, $v[1]) : rules(@v);
        } elsif ($type < 64) {
            die "record $type\n";
        } elsif ($type == 65) {
            print join(',', @v[0 .. 2], unpack 'H*', $v[3]), "\n" if $what eq 'messages';
        }
    }
    inputs($from, $tick, @entries);
    ($reached, $position, $number) = ($tick, $position + 28 + $length, $number + 1);
}
die "not closed\n" unless $closed;
if ($what eq 'digests') { print "$_,$digest{$_}\n" for sort { $a <=> $b } keys %digest }
