#!/usr/bin/env node
// What `trueup` starts, as dist/main.js: any Node, however old, can read this file and says what it takes.
// Invariant: no syntax and no module that an old Node lacks; everything else comes with the import.
const [major, minor] = process.versions.node.split('.').map(Number);
const [option, ...others] = process.argv.slice(2);
if (major < 22 || (major === 22 && minor < 18)) {
  fail();
} else if (others.length === 0 && (option === '--version' || option === '-V')) {
  // Scripts ask for it often, and the program takes three times as long to load.
  void import('./version.js');
} else {
  // Node would let the space for new objects grow to 128 MB, a third of the memory of a large plan, which saves no time. While the first
  // file loads, it grows to 8 MB at once, and then no more. The whole heap would double before it is collected; 40 % save a quarter of the
  // memory and cost no time that can be measured. No option of the process can say that here: it has already begun.
  // Node has compiled code of its own modules, but takes it only before flags change: the modules that the first file needs come first.
  const early = ['v8', 'child_process', 'crypto', 'fs/promises', 'timers/promises', 'util'];
  void Promise.all(early.map((name) => import(`node:${name}`))).then(([{ setFlagsFromString }]) => {
    setFlagsFromString('--semi-space-growth-factor=8');
    setFlagsFromString('--heap-growing-percent=40');
    return import('./keep-compiled-code.js')
      .then(() => import('./start.js'))
      .then(() => {
        setFlagsFromString('--semi-space-growth-factor=1');
        return import('./trueup.js');
      });
  });
}

function fail() {
  console.error(
    `trueup needs Node 22.18 or newer and found ${process.versions.node}: install Node 24 from https://nodejs.org, or use the executable of trueup, which brings its own: "npm run build:binary" in the clone makes it`,
  );
  process.exitCode = 1;
}
