// Stops early, with the way out, when the Node that `npm ci` brings is missing and an older one would run instead.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `trueup needs Node 22.18 or newer and found ${process.versions.node}: run "npm ci" (or "npm rebuild node" when its install script was blocked)`,
  );
  process.exit(1);
}
