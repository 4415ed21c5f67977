/** An organization with projects that no stack owns, and a stack that manages projects. */
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { dialectUnderTest } from '../rig/dialect-under-test.ts';
import { type Bench, type BenchOptions, openBench, type StackOptions } from './bench.ts';
import { document } from './documents.ts';

/** `project('payments', { description: 'x' }, { adopt: true })`: name, spec, further metadata. */
export const project = document('Project');

const organization = {
  projects: [
    { name: 'theirs', id: 'prj-theirs' },
    { name: 'network', id: 'prj-network', description: 'by hand', 'tag-bindings': { team: 'network' } },
  ],
  'agent-pools': [
    { name: 'linux', id: 'apool-linux' },
    { name: 'windows', id: 'apool-windows' },
  ],
  workspaces: [
    { name: 'theirs-a', id: 'ws-theirs-a', project: 'theirs' },
    { name: 'theirs-b', id: 'ws-theirs-b', project: 'theirs' },
  ],
} satisfies BenchOptions['organization'];

export const bothDialects = ['neutral', 'hcp-terraform'];

export async function openProjects(
  dialect: string = dialectUnderTest,
  more: BenchOptions['organization'] = {},
  options: StackOptions = {},
) {
  const bench = await openBench({ dialects: [dialect], organization: { ...organization, ...more } });
  const checkout = (of: StackOptions = {}) =>
    bench.checkout({ ...of, workspaces: { dialect, ...of.workspaces } });
  return { bench, checkout, stack: await checkout(options), ...projectsOf(bench) };
}

function projectsOf(bench: Bench) {
  const list = async () =>
    (await bench.byHand.get('/organizations/acme/projects?page%5Bsize%5D=100')).resources;
  const find = async (name: string) => (await list()).find(({ attributes }) => attributes['name'] === name);
  return {
    names: async () => (await list()).map(({ attributes }) => String(attributes['name'])),
    find,
    idOfProject: async (name: string) => (await find(name))?.id ?? '',
    /** the tags of a project, its ownership tag among them, without the id of its stack */
    tagsOfProject: async (name: string) => {
      const { resources } = await bench.byHand.get(`/projects/${(await find(name))?.id}/tag-bindings`);
      return Object.fromEntries(
        resources.map(({ attributes: { key, value } }) => [
          key,
          String(value).replace(/:id=[0-9a-f]{8}$/, ''),
        ]),
      );
    },
    change: (id: string, attributes: object) =>
      bench.byHand.patch(`/projects/${id}`, { data: { type: 'projects', id, attributes } }),
    /** the name of the project that a workspace is in */
    projectNameOf: async (workspace: string) => {
      const { resource } = await bench.byHand.get(`/workspaces/${await bench.idOf(workspace)}`);
      const { data } = (resource.relationships?.['project'] ?? {}) as { data?: { id: string } };
      return (await list()).find(({ id }) => id === data?.id)?.attributes['name'];
    },
    /** method and path of each write, ids as `…` */
    written: () =>
      bench.wire
        .writes()
        .map(({ method, path }) =>
          `${method} ${path.replace('/api/v2', '')}`.replace(/(ws|prj)-[\w]+/, '$1-…'),
        ),
    /** how often a page of projects was read since the last reset */
    listed: () => bench.wire.seen.filter(({ path }) => /\/organizations\/acme\/projects\?/.test(path)).length,
  };
}

/** The action and the address of each change, in the order of the plan. */
export function actionsOf({ changes }: Pick<PlanJson, 'changes'>): string[] {
  return changes.map(({ action, address }) => `${action} ${address}`);
}

/** Rewrites a response: a list of projects without this one, which is not counted either. */
export function withoutProject(name: string) {
  return (body: unknown) => {
    const { data, meta, ...rest } = body as {
      data: { attributes: { name: string } }[];
      meta: { pagination: object };
    };
    const seen = data.filter(({ attributes }) => attributes.name !== name);
    const pagination = { ...meta.pagination, 'total-count': seen.length };
    return { ...rest, data: seen, meta: { ...meta, pagination } };
  };
}

/** Rewrites a response: workspaces without the relationship to their project. */
export function withoutProjectRelationships(body: unknown): unknown {
  const { data, ...rest } = body as { data: unknown };
  const strip = (one: { relationships?: object }) => {
    const { project: _, ...relationships } = (one.relationships ?? {}) as Record<string, unknown>;
    return { ...one, relationships };
  };
  return { ...rest, data: Array.isArray(data) ? data.map(strip) : strip(data as object) };
}
