/** A stack of six workspaces whose updates can rely on a page of the list, and the requests that read them. */
import { type Bench, type Checkout, openBench, type StackOptions } from './bench.ts';
import { workspace } from './documents.ts';
import type { SeenRequest } from './faulty-proxy.ts';

export const names = ['a-0', 'a-1', 'a-2', 'a-3', 'a-4', 'a-5'];
export const allWorkspaces = (spec: object, metadata: object = {}) =>
  names.map((name) => workspace(name, spec, metadata));
export const inOneLine = (text: string) => text.replace(/\s+/g, ' ');

export const isPage = ({ method, path }: SeenRequest) =>
  method === 'GET' && path.startsWith('/api/v2/organizations/acme/workspaces?');
export const isSingle = ({ method, path }: SeenRequest) =>
  method === 'GET' && /\/workspaces\/ws-\w+(\?|$)/.test(path);

interface Scene {
  readonly bench: Bench;
  readonly stack: Checkout;
  /** applies another description of each workspace. @returns the output in one line */
  apply(code: number): Promise<string>;
  /** how many pages and single workspaces were read since the scene was opened */
  reads(): { pages: number; singles: number };
  descriptionOf(name: string): Promise<unknown>;
}

export async function openScene(options: StackOptions = {}, others: readonly string[] = []): Promise<Scene> {
  const bench = await openBench({ organization: { workspaces: others.map((name) => ({ name })) } });
  const stack = await bench.checkout(options);
  await stack.setUp(...allWorkspaces({ description: 'old' }));
  const singles = () => bench.wire.seen.filter(isSingle).length;
  return {
    bench,
    stack,
    apply: async (code) => {
      await stack.declare(...allWorkspaces({ description: 'new' }));
      const { out, err } = await stack.run(['apply', '--yes'], code);
      return inOneLine(out + err);
    },
    // Without the lists of the plan and of the verification after the apply.
    reads: () => ({ pages: bench.wire.seen.filter(isPage).length - 2, singles: singles() }),
    descriptionOf: async (name) => (await readWorkspace(bench, name)).attributes['description'],
  };
}

/** Reads one workspace, also in an organization with more workspaces than fit on a page. */
export async function readWorkspace(bench: Bench, name: string) {
  return (await bench.byHand.get(`/organizations/acme/workspaces/${name}`)).resource;
}
