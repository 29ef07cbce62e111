#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# reader.pl inputs|digests|bodies FILE: a second reader of recordings, written from docs/RECORDING.md alone, to see
# that the page is enough. Prints what `foliot-replay export --csv --what ...` prints; `bodies` at keyframes only.
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

# -- section 7 ----------------------------------------------------------------------------------------
sub keyframe {
    my ($tick, $k) = @_;
    my ($own_tick, $n, $truth) = unpack 'Q< x48 V V', $k;
    die "keyframe's tick\n" unless $own_tick == $tick;
    my ($offset, %field) = (64);
    for my $bit (0 .. 22) {
        my $width = $bit == 22 ? 4 : 8;
        if ($truth >> $bit & 1) {
            $field{$bit} = [unpack(($bit == 22 ? 'V' : $bit >= 16 ? 'q<' : 'd<') . $n, substr $k, $offset)];
            $offset += $width * $n;
        } else {
            $field{$bit} = [($bit == 6 ? 1 : 0) x $n];
        }
    }
    for my $i (0 .. $n - 1) {
        next unless $field{22}[$i] & 1;
        print join(',', $tick, $i, map { sprintf '%.17g', $field{$_}[$i] } 0 .. 12), "\n";
    }
}

# -- sections 3, 4, 6, 8 ------------------------------------------------------------------------------
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
            die "header\n" unless $v[0]{tick} == $tick && length $v[0]{scene};
        } elsif ($type == 2) {
            %player = ();
            $offset_of{$tick} = $position;
            $digest{$tick} ||= unpack 'H*', $v[1] if $number == 1;
            keyframe($v[0], $v[3]) if $what eq 'bodies';
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
        } elsif ($type < 64) {
            die "record $type\n";
        }
    }
    inputs($from, $tick, @entries);
    ($reached, $position, $number) = ($tick, $position + 28 + $length, $number + 1);
}
die "not closed\n" unless $closed;
if ($what eq 'digests') { print "$_,$digest{$_}\n" for sort { $a <=> $b } keys %digest }
