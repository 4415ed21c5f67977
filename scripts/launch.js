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
  void import('node:v8').then(({ setFlagsFromString }) => {
    setFlagsFromString('--semi-space-growth-factor=8');
    setFlagsFromString('--heap-growing-percent=40');
    return keepCompiledCode()
      .then(() => import('./start.js'))
      .then(() => {
        setFlagsFromString('--semi-space-growth-factor=1');
        return import('./trueup.js');
      });
  });
}

/**
 * Lets Node keep the compiled code for the next start, which then takes a third less. Not in a temporary folder, which is Node's default:
 * what others put there would be run. So both folders must belong to this user, and nobody else may write to them.
 */
function keepCompiledCode() {
  const names = ['node:fs', 'node:module', 'node:os', 'node:path'];
  return Promise.all(names.map((name) => import(name))).then(([fs, { enableCompileCache }, os, path]) => {
    const isOwn = (folder) => {
      const { uid, mode } = fs.statSync(folder);
      return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    };
    try {
      const caches = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
      const own = path.join(caches, 'trueup');
      fs.mkdirSync(own, { recursive: true, mode: 0o700 });
      if (isOwn(caches) && isOwn(own)) enableCompileCache(own);
    } catch {
      // Without a home, or on a read-only disk, it starts as before.
    }
  });
}

function fail() {
  console.error(
    `trueup needs Node 22.18 or newer and found ${process.versions.node}: install Node 24 from https://nodejs.org, or use the executable of trueup, which brings its own: "npm run build:binary" in the clone makes it`,
  );
  process.exitCode = 1;
}
