/**
 * Builds `dist`, or the folder that `--to` names: all of trueup in as few files as possible, because each file costs start-up time.
 * Code that only some commands need is in separate files. Dependencies of package.json stay dependencies; every other package is
 * bundled, together with its licence.
 */
import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type OutputChunk, rolldown } from 'rolldown';
import about from '../package.json' with { type: 'json' };
import { buildCommit, exampleTexts, leanUndici, plainSchemas, readySchemas } from './bundle-plugins.ts';
import { collectNotices } from './collect-notices.ts';
import { asciiCode, policyWorker } from './policy-worker.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { to } = parseArgs({ options: { to: { type: 'string', default: 'dist' } } }).values;
const dist = resolve(root, to);

/** Files of `dist` that commands load when needed, each with its imports. A module goes into the first file that matches. */
const groups = [
  // main.ts starts its command when it is loaded: what the command loads must not load main.ts in turn.
  { name: 'start', tags: ['$initial' as const], test: /(?<!\/src\/main\.ts)$/ },
  { name: 'prompts', test: /\/src\/run\/question\.ts$/ },
  // The service verifies signatures, and so does the command that checks a role, which does not need the service.
  { name: 'signatures', test: /\/node_modules\/jose\// },
  { name: 'server', test: /\/src\/server\// },
  { name: 'manifests', test: /\/src\/(?:run\/load-manifests|commands\/validate|commands\/schema)\.ts$/ },
  { name: 'embedded', test: /\/src\/(?:run\/embedded-service|commands\/serve)\.ts$/ },
  // Only stacks with policies need it, and the text of the worker is long.
  { name: 'policies', test: /\/src\/policies\// },
  { name: 'wire', test: /\/src\/(?:run\/connect|commands\/plan|commands\/apply)\.ts$/ },
].map((group, index, all) => ({ ...group, priority: all.length - index }));

const worker = policyWorker();

async function bundle(): Promise<readonly OutputChunk[]> {
  const build = await rolldown({
    cwd: root,
    input: { trueup: 'src/main.ts' },
    platform: 'node',
    // The paths in tsconfig.json are only for types.
    tsconfig: false,
    external: Object.keys(about.dependencies),
    preserveEntrySignatures: false,
    plugins: [buildCommit, leanUndici, readySchemas, plainSchemas, exampleTexts, worker, asciiCode],
    // On a busy machine the bundler warns that plugins take long.
    checks: { bundlerTimings: false },
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(`the bundler warns: ${log.message}`);
    },
  });
  const { output } = await build.write({
    dir: dist,
    format: 'cjs',
    // Modules that a command loads when needed go through the same loader.
    dynamicImportInCjs: false,
    entryFileNames: '[name].js',
    // A command's module is called after its folder.
    chunkFileNames: ({ name, facadeModuleId }) =>
      `${name === 'command' && facadeModuleId ? basename(dirname(facadeModuleId)) : name}.js`,
    codeSplitting: { groups },
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await build.close();
  return output.filter((file) => file.type === 'chunk');
}

await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
const chunks = await bundle();
await writeFile(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
await copyFile(join(root, 'scripts', 'launch.js'), join(dist, 'main.js'));
await copyFile(join(root, 'scripts', 'load-program.js'), join(dist, 'load-program.js'));
await writeFile(join(dist, 'version.js'), `console.log('${about.version}');\n`);
// npm makes the commands of a package executable; an unpacked tarball has the mode that is packed.
await chmod(join(dist, 'main.js'), 0o755);
const modules = [...chunks.flatMap((chunk) => chunk.moduleIds), ...worker.modules];
await writeFile(join(dist, 'THIRD-PARTY-NOTICES.txt'), await collectNotices(modules));
for (const { fileName, code } of chunks)
  console.log(`${to}/${fileName}  ${Math.ceil(code.length / 1024)} kB`);
