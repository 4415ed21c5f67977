#!/usr/bin/env node
// What `trueup` starts, as dist/main.js: any Node, however old, can read this file and says what it takes.
// Invariant: no syntax and no module that an old Node lacks; everything else is loaded after the check.
const [major, minor] = process.versions.node.split('.').map(Number);
const [option, ...others] = process.argv.slice(2);
if (major < 22 || (major === 22 && minor < 18)) {
  fail();
} else if (others.length === 0 && (option === '--version' || option === '-V')) {
  // Scripts ask for it often, and the program takes longer to load.
  require('./version.js');
} else {
  require('./load-program.js');
}

function fail() {
  console.error(
    `trueup needs Node 22.18 or newer and found ${process.versions.node}: install Node 24 from https://nodejs.org, or use the executable of trueup, which brings its own: "npm run build:binary" in the clone makes it`,
  );
  process.exitCode = 1;
}
