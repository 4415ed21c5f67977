#!/usr/bin/env node
// What `trueup` starts, as dist/main.js: any Node, however old, can read this file and says what it takes.
// Invariant: no syntax and no module that an old Node lacks; everything else comes with the import.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 18)) {
  void import('./trueup.js');
} else {
  console.error(
    `trueup needs Node 22.18 or newer and found ${process.versions.node}: install Node 24 from https://nodejs.org, or use the executable of trueup, which brings its own`,
  );
  process.exitCode = 1;
}
