/** A stack of six workspaces whose updates can rely on a page of the list, and the requests that read them. */
import { type Bench, type Checkout, openBench, type StackOptions } from './bench.ts';
import { workspace } from './documents.ts';
import type { SeenRequest } from './faulty-proxy.ts';

export const names = ['a-0', 'a-1', 'a-2', 'a-3', 'a-4', 'a-5'];
export const all = (spec: object, metadata: object = {}) =>
  names.map((name) => workspace(name, spec, metadata));
export const told = (text: string) => text.replace(/\s+/g, ' ');

export const isPage = ({ method, path }: SeenRequest) =>
  method === 'GET' && path.startsWith('/api/v2/organizations/acme/workspaces?');
export const isSingle = ({ method, path }: SeenRequest) =>
  method === 'GET' && /\/workspaces\/ws-\w+(\?|$)/.test(path);

interface Scene {
  readonly bench: Bench;
  readonly stack: Checkout;
  /** applies with another description for each workspace, from here on */
  apply(code: number): Promise<string>;
  /** how often a page and a single workspace were read since */
  reads(): { pages: number; singles: number };
  descriptionOf(name: string): Promise<unknown>;
}

export async function openScene(options: StackOptions = {}, others: readonly string[] = []): Promise<Scene> {
  const bench = await openBench({ organization: { workspaces: others.map((name) => ({ name })) } });
  const stack = await bench.checkout(options);
  await stack.begin(...all({ description: 'old' }));
  const singles = () => bench.wire.seen.filter(isSingle).length;
  return {
    bench,
    stack,
    apply: async (code) => {
      await stack.declare(...all({ description: 'new' }));
      const { out, err } = await stack.run(['apply', '--yes'], code);
      return told(out + err);
    },
    // Without the lists of the plan and of the proof.
    reads: () => ({ pages: bench.wire.seen.filter(isPage).length - 2, singles: singles() }),
    descriptionOf: async (name) => (await named(bench, name)).attributes['description'],
  };
}

/** Also in an organization with more workspaces than a page has. */
export async function named(bench: Bench, name: string) {
  return (await bench.byHand.get(`/organizations/acme/workspaces/${name}`)).resource;
}
