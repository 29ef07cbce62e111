#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# http_probe.pl PORT: sends requests that a well-behaved client never sends, one connection each, and prints "NAME STATUS"
# for each; STATUS is closed if there was no answer, open if the connection was still open after half a minute.
# http_probe.pl PORT slow: holds 64 connections that send a header's byte now and then, and prints how many of them were closed
# within two minutes, and how many requests of other connections were answered while all of them were held.
use strict;
use warnings;
use IO::Socket::INET;
use IO::Select;
use Time::HiRes qw(sleep time);
$SIG{PIPE} = 'IGNORE';
my ($port, $mode) = @ARGV;
my $host = "Host: localhost\r\n";

sub connection { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port) or die "no connection: $!\n" }

sub ask {
    my ($bytes, $piece) = @_;
    my $socket = connection();
    for (my $at = 0; $at < length $bytes; $at += $piece || length $bytes) {
        syswrite($socket, substr($bytes, $at, $piece || length $bytes)) or last;
        sleep 0.002 if $piece;
    }
    my ($answer, $select, $end) = ('', IO::Select->new($socket), time + 30);
    while ((my $left = $end - time) > 0) {
        next unless $select->can_read($left);
        my $got = sysread($socket, my $more, 65536);
        return $answer =~ m{^HTTP/1\.[01] (\d+)} ? $1 : 'closed' unless $got;
        $answer .= $more;
        return $1 if $answer =~ m{^HTTP/1\.[01] (\d+).*?\r\n\r\n}s;
    }
    return $answer =~ m{^HTTP/1\.[01] (\d+)} ? $1 : 'open';
}

if (($mode // '') eq 'slow') {
    my @held = map { connection() } 1 .. 64;
    my ($closed, $answered, $begun) = (0, 0, time);
    syswrite($_, "GET /livez HTTP/1.1\r\n${host}X-Long: ") for @held;
    while (@held && time - $begun < 120) {
        ask("GET /livez HTTP/1.1\r\nConnection: close\r\n$host\r\n") eq '200' or print "an honest request failed\n";
        my @open;
        for my $socket (@held) {
            syswrite($socket, 'a');
            if (IO::Select->new($socket)->can_read(0) && !sysread($socket, my $byte, 1)) { $closed++ } else { push @open, $socket }
        }
        @held = @open;
        $answered++ if !$closed;
        sleep 0.3;
    }
    print "closed $closed answered $answered\n";
    exit;
}

my $get = "GET /livez HTTP/1.1\r\n";
my $post = "POST /livez HTTP/1.1\r\n$host";
my $upgrade = "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
my @requests = (
    ['no-host', "$get\r\n"],
    ['two-hosts', "$get${host}Host: evil.example\r\n\r\n"],
    ['other-host', "${get}Host: evil.example\r\n\r\n"],
    ['other-origin', "$get${host}Origin: http://evil.example\r\n\r\n"],
    ['own-origin', "$get${host}Origin: http://localhost\r\n\r\n"],
    ['numeric-host', "${get}Host: [::1]:80\r\n\r\n"],
    ['garbage', "\x00\xff\x12garbage\r\n\r\n"],
    ['http2', "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ['http2-upgrade', "$get${host}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n"],
    ['long-header', "$get${host}X: " . ('a' x 20000) . "\r\n\r\n"],
    ['many-headers', $get . $host . join('', map { "X-$_: 1\r\n" } 1 .. 3000) . "\r\n"],
    ['long-path', 'GET /' . ('a' x 9000) . " HTTP/1.1\r\n$host\r\n"],
    ['path-600', 'GET /' . ('a' x 600) . " HTTP/1.1\r\n$host\r\n"],
    ['no-such-path', "GET /nothing HTTP/1.1\r\n$host\r\n"],
    ['zero-in-path', "GET /li%00vez HTTP/1.1\r\n$host\r\n"],
    ['half-escape', "GET /%zz HTTP/1.1\r\n$host\r\n"],
    ['no-utf8', "GET /%ff%fe HTTP/1.1\r\n$host\r\n"],
    ['chunked', "${post}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ['no-length', "$post\r\n"],
    ['negative-length', "${post}Content-Length: -1\r\n\r\n"],
    ['huge-length', "${post}Content-Length: 99999999999999999999\r\n\r\n"],
    ['long-body', "${post}Content-Length: 1000000\r\n\r\n"],
    ['two-lengths', "${post}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    ['body-of-get', "$get${host}Content-Length: 5\r\n\r\nabcde"],
    ['wrong-method', "${post}Content-Length: 1\r\n\r\na"],
    ['trace', "TRACE /livez HTTP/1.1\r\n$host\r\n"],
    ['no-such-socket', "GET /nothing HTTP/1.1\r\n${host}${upgrade}Upgrade: websocket\r\nSec-WebSocket-Protocol: none\r\n\r\n"],
    ['byte-by-byte', "$get$host\r\n", 1],
    ['five-at-once', "$get$host\r\n" x 5],
    ['body-behind', "$get$host\r\n${post}Content-Length: 2\r\n\r\n{}"], # these two once stopped the service for good
    ['body-behind-slowly', "$get$host\r\n${post}Content-Length: 2\r\n\r\n{}", 1],
    ['get-with-body-behind', "$get$host\r\n$get${host}Content-Length: 2\r\n\r\n{}"],
    ['bare-line-feeds', "GET /livez HTTP/1.1\nHost: localhost\n\n"],
    ['folded', "$get${host}X: a\r\n b\r\n\r\n"],
    ['blank-before-colon', "$get${host}X : a\r\n\r\n"],
    ['zero-in-header', "$get${host}X: a\0b\r\n\r\n"],
    ['http-1.0', "GET /livez HTTP/1.0\r\n$host\r\n"],
    ['unknown-method', "BREW /livez HTTP/1.1\r\n$host\r\n"],
    ['connect', "CONNECT a:80 HTTP/1.1\r\n$host\r\n"],
    ['expects-else', "$get${host}Expect: a pot\r\n\r\n"],
    ['empty-line-before', "\r\n$get$host\r\n"],
);
printf "%s %s\n", $_->[0], ask($_->[1], $_->[2]) for @requests;
