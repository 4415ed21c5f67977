/** Stacks with a template, the resources that they declare, and the places of their problems. */
import { type Checkout, openBench } from './bench.ts';

export const all = 'manifests/all.yaml';

interface Reported {
  readonly code: string;
  readonly message: string;
  readonly place?: { readonly file: string; readonly line: number };
  readonly fix?: string;
  readonly related?: readonly { readonly place?: { readonly file: string; readonly line: number } }[];
}

/** A template for workspaces. @param each as YAML in flow style, or in lines below it */
export const template = (each: string, spec = '{}', name = '${each.key}') => `apiVersion: trueup.dev/v1
kind: Workspace
metadata:
  name: ${name}
  each: ${each}
spec: ${spec}
`;

export async function stackWith(files: Readonly<Record<string, string>>, options = {}): Promise<Checkout> {
  const bench = await openBench();
  const stack = await bench.checkout(options);
  for (const [path, text] of Object.entries(files)) await stack.write(path, text);
  return stack;
}

/** The names and specs of the workspaces that a stack declares. */
export async function declared(stack: Checkout): Promise<Record<string, unknown>> {
  const { changes } = await stack.plan();
  return Object.fromEntries(
    changes
      .filter(({ kind }) => kind === 'Workspace')
      .map(({ name, fields }) => [
        name,
        Object.fromEntries(
          fields.filter(({ path }) => path !== '/claim').map(({ path, after }) => [path.slice(1), after]),
        ),
      ]),
  );
}

export async function problems(stack: Checkout): Promise<readonly Reported[]> {
  const { out } = await stack.tryRun(['validate', '--format', 'json']);
  return (JSON.parse(out) as { diagnostics: Reported[] }).diagnostics;
}

/** The places of problems, as `code all.yaml:5 > list.csv:3`. */
export const places = (found: readonly Reported[]) =>
  found.map(({ code, place, related = [] }) =>
    [
      `${code} ${place?.file}:${place?.line}`,
      ...related.map((one) => `${one.place?.file}:${one.place?.line}`),
    ].join(' > '),
  );
