/** The thread of policies as one text, for builds and for tests. This file imports little: Vitest loads it before each run. */
import { fileURLToPath } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const source = fileURLToPath(new URL('../src/', import.meta.url));

/** Escapes all but ASCII: a single other character makes the engine keep the whole file with two bytes for each character. */
export const asciiCode: Plugin = {
  name: 'ascii-code',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) if (file.type === 'chunk') file.code = asAscii(file.code);
  },
};

function asAscii(code: string): string {
  const raw = /String\.raw`[^`]*[^\p{ASCII}]/u.exec(code);
  if (raw !== null) throw new Error(`an escape would change this text: ${raw[0]}`);
  return code.replace(/[^\p{ASCII}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/**
 * The worker that evaluates policies, as the text of one script: a worker in a single executable has no file of its own. Its packages are
 * loaded by nothing else, so that a stack without policies does not load them.
 */
export function policyWorker(): Plugin & { readonly modules: string[] } {
  const modules: string[] = [];
  return {
    name: 'policy-worker',
    modules,
    async load(id) {
      if (id !== `${source}policies/worker-code.ts`) return null;
      const build = await rolldown({
        input: `${source}policies/evaluate-rules.ts`,
        platform: 'node',
        tsconfig: false,
        plugins: [asciiCode],
      });
      const { output } = await build.generate({ format: 'cjs', minify: true, codeSplitting: false });
      await build.close();
      modules.push(...output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])));
      const text = output.map((file) => (file.type === 'chunk' ? file.code : '')).join('');
      return { code: `export const workerCode = { text: ${JSON.stringify(text)} };`, moduleType: 'js' };
    },
  };
}
