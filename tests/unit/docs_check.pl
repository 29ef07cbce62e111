#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# docs_check.pl ROOT HELP PAGE...: reads pages of Markdown under ROOT and prints what is wrong, a line a problem: links
# and paths that lead nowhere, options and public names that do not exist. HELP is a file with the --help of all programs.
# tests/tidy/pages.py reads the prose.
use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));

my ($root, $help_file, @pages) = @ARGV;

sub text_of {
    my ($file) = @_;
    open my $in, '<', $file or return '';
    local $/;
    return <$in> // '';
}

my $help = text_of($help_file);
my %introduced; # names that the page itself defines, in an example
my $headers = join '', map { text_of($_) } glob("$root/include/foliot/*.h"),
    "$root/server/program/report/metrics.c", glob("$root/tools/ctl/*.c"); # metrics, and variables of the environment

# The anchor that a heading gets.
sub anchor {
    my ($heading) = @_;
    $heading =~ s/\[([^\]]*)\]\([^)]*\)/$1/g;
    $heading = lc $heading;
    $heading =~ s/[^\w\s-]//g;
    $heading =~ s/ /-/g;
    return $heading;
}

sub folder_of {
    my ($page) = @_;
    return $page =~ m{^(.*)/[^/]*$} ? "$1/" : '';
}

sub check_link {
    my ($page, $line, $target) = @_;
    return if $target =~ m{^[a-z]+:};
    my ($path, $place) = $target =~ /^([^#]*)#?(.*)$/;
    my $file = $path eq '' ? "$root/$page" : "$root/" . folder_of($page) . $path;
    return print "$page:$line: leads nowhere: $target\n" if !-e $file;
    return if $place eq '';
    my %anchors = map { anchor($_) => 1 } text_of($file) =~ /^#+ (.*)$/mg;
    print "$page:$line: no such place: $target\n" if !$anchors{$place};
}

my $folders = qr/(?:common|include|server|client|tools|tests|scenes|examples|docs|scripts)/;

sub check_names {
    my ($page, $line, $text) = @_;
    while ($text =~ /`($folders\/[A-Za-z0-9_.*\/-]+)`/g) {
        my ($path, @found) = ($1, glob "$root/$1");
        print "$page:$line: no such path: $path\n" if !@found || !-e $found[0];
    }
    while ($text =~ /`foliot\/([a-z_]+\.h)`/g) {
        print "$page:$line: no such header: $1\n" if !-e "$root/include/foliot/$1";
    }
    while ($text =~ /\b(foliot_[a-z0-9]+(?:_[a-z0-9]+)*|FOLIOT_[A-Z0-9]+(?:_[A-Z0-9]+)*)\b(?![_*.])/g) {
        next if $introduced{$1};
        print "$page:$line: no such name: $1\n" if $headers !~ /\b\Q$1\E\b/;
    }
    return if $help eq '' || $text !~ /foliot-(?:server|client|replay|lab)/;
    while ($text =~ /(?<![\w-])(--[a-z][a-z-]+)/g) {
        print "$page:$line: no such option: $1\n" if $help !~ /(?<![\w-])\Q$1\E(?![\w-])/;
    }
}

for my $page (@pages) {
    my @lines = split /\n/, text_of("$root/$page");
    my $fenced = 0;
    %introduced = map { $_ => 1 } join("\n", @lines) =~ /\b(FOLIOT_[A-Z0-9_]+) = \d/g;
    for my $i (0 .. $#lines) {
        my ($text, $line) = ($lines[$i], $i + 1);
        $fenced = !$fenced if $text =~ /^```/;
        check_names($page, $line, $text) if $page ne 'docs/GLOSSARY.md'; # it has old names
        if (!$fenced && $text !~ /^    /) {
            check_link($page, $line, $1) while $text =~ /\]\(([^)\s]+)\)/g;
        }
    }
}
