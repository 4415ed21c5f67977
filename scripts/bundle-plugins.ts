/** Differences between the bundle and the source, for a faster start. They do not change what trueup does. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'rolldown';
import { compileChecks, compileSeed } from './compile-checks.ts';

const source = fileURLToPath(new URL('../src/', import.meta.url));

/**
 * Bundles only the parts of undici that send requests: its main module also loads fetch, caches, mocks and web sockets, which takes
 * several times as long. An import from `undici` that is missing here fails the build. Leaves out HTTP/2, which trueup never allows.
 */
export const leanUndici: Plugin = {
  name: 'lean-undici',
  resolveId: (specifier) => (specifier === 'undici' ? '\0undici' : null),
  load: (id) => {
    if (id.endsWith('/undici/lib/dispatcher/client-h2.js'))
      return { code: "module.exports = () => { throw new Error('HTTP/2 is left out'); };", moduleType: 'js' };
    return id === '\0undici'
      ? `import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
         import api from 'undici/lib/api/index.js';
         export { default as EnvHttpProxyAgent } from 'undici/lib/dispatcher/env-http-proxy-agent.js';
         Object.assign(Dispatcher.prototype, api);`
      : null;
  },
};

const compiled: Readonly<Record<string, () => string>> = {
  'manifest/schema/precompiled-checks.ts': compileChecks,
  'server/seed/compiled-seed.ts': compileSeed,
};

/** Schemas compiled ahead of time: compiling them takes longer than everything else that `validate` does. */
export const readySchemas: Plugin = {
  name: 'ready-schemas',
  load: (id) => {
    const code = compiled[id.slice(source.length)]?.();
    return code === undefined ? null : { code, moduleType: 'js' };
  },
  // Other schemas still need the compiler. The bundler follows a `require` only if it was not made by `createRequire`.
  transform(code, id) {
    const made = 'const require = createRequire(import.meta.url);';
    return id.startsWith(source) && code.includes(made) ? code.replace(made, '') : null;
  },
};

/** The commit that the program is built from, and whether files had uncommitted changes; undefined outside of a repository. */
export const buildCommit: Plugin = {
  name: 'build-commit',
  load: (id) =>
    id === `${source}run/built-from.ts`
      ? { code: `export const builtFrom = ${JSON.stringify(commitOfSource())};`, moduleType: 'js' }
      : null,
};

function commitOfSource(): string | undefined {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: source, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    // A package that was unpacked inside another repository does not belong to it.
    if (git('ls-files', 'main.ts') === '') return undefined;
    const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', 'HEAD')}${changed ? ' with uncommitted changes' : ''}`;
  } catch {
    return undefined;
  }
}

/** Includes the texts of the examples that `trueup init` copies: a single executable comes without the files of examples. */
export const exampleTexts: Plugin = {
  name: 'example-texts',
  async load(id) {
    if (id !== `${source}commands/init/ci-files.ts`) return null;
    const { ciTexts } = await import('../src/commands/init/ci-files.ts');
    return { code: `export const ciTexts = ${JSON.stringify(ciTexts)};`, moduleType: 'js' };
  },
};

/** Replaces files that export only schemas by the resulting data, so that the library that makes them is not loaded. */
export const plainSchemas: Plugin = {
  name: 'plain-schemas',
  async transform(code, id) {
    if (!id.startsWith(source) || !/^import \{.*\bType\b.*\} from 'typebox';$/m.test(code)) return null;
    const values = Object.entries(await import(id));
    if (values.some(([, value]) => typeof value === 'function')) return null;
    const lines = values.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`);
    return { code: lines.join('\n'), moduleType: 'js' };
  },
};
