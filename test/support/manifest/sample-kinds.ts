/** Sample kinds for the tests of manifests, one of each sort that the contract of kinds allows, so that no real kind is needed. */
import { Type } from 'typebox';
import type { Json } from '../../../src/model/json.ts';
import { jsonSchema } from '../../../src/model/define-kind.ts';
import type { ResourceProblem, Kind, Registry } from '../../../src/model/kind.ts';
import { nullable } from '../../../src/model/nullable.ts';
import type { Dialect } from '../../../src/model/stack.ts';
import {
  duration,
  list,
  scalar,
  secretVersion,
  set,
  stringMap,
  text,
  wholeValue,
} from '../../../src/compare/comparisons.ts';

const closed = { additionalProperties: false };

/** Members that no test of manifests uses. */
const unused: Pick<Kind, 'read' | 'readOne' | 'calls'> = {
  read: () => Promise.reject(new Error('manifests are read offline')),
  readOne: () => Promise.reject(new Error('manifests are read offline')),
  calls: () => ({ calls: [] }),
};

const parentSpec = Type.Object(
  {
    description: Type.Optional(nullable(Type.String({ maxLength: 20 }))),
    runMode: Type.Optional(nullable(Type.Enum(['remote', 'local', 'agent'], { type: 'string' }))),
    operations: Type.Optional(Type.Boolean()),
    engineVersion: Type.Optional(Type.String({ minLength: 1 })),
    autoApply: Type.Optional(nullable(Type.Boolean())),
    workers: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 8 }))),
    lifetime: Type.Optional(Type.Unsafe<number | string>({ type: ['integer', 'string'], minimum: 0 })),
    paths: Type.Optional(
      nullable(Type.Array(Type.String({ minLength: 1 }), { maxItems: 3, uniqueItems: true })),
    ),
    projectId: Type.Optional(
      Type.String({ pattern: '^prj-[a-z0-9]+$', patternErrorMessage: 'an id such as "prj-1"' }),
    ),
    startsAt: Type.Optional(Type.String({ format: 'date-time' })),
    repo: Type.Optional(
      nullable(
        Type.Object(
          { identifier: Type.String({ minLength: 1 }), branch: Type.Optional(nullable(Type.String())) },
          closed,
        ),
      ),
    ),
    retention: Type.Optional(
      Type.Object(
        { days: Type.Optional(Type.Integer()), keep: Type.Optional(Type.Boolean()) },
        { ...closed, minProperties: 1, maxProperties: 1 },
      ),
    ),
    source: Type.Optional(
      Type.Union([
        Type.Object({ git: Type.String(), ref: Type.Optional(Type.String()) }, closed),
        Type.Array(Type.String()),
      ]),
    ),
    tags: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        type: ['object', 'null'],
        additionalProperties: { type: 'string' },
      }),
    ),
    readers: Type.Optional(nullable(Type.Array(Type.String({ minLength: 1 })))),
  },
  closed,
);

/** Owned by an ownership tag, with short forms, a deprecated field, and fields of every shape. */
export const parentKind: Kind = {
  name: 'Parent',
  service: 'workspaces',
  summary: 'A whole',
  names: { pattern: /^[A-Za-z0-9_-]{1,20}$/, description: 'letters, digits, "-" and "_", at most 20' },
  specSchema: jsonSchema(parentSpec),
  fields: {
    description: { compare: text, default: null },
    runMode: { compare: scalar, default: null },
    operations: { compare: scalar, default: true, local: true },
    engineVersion: { compare: scalar },
    autoApply: { compare: scalar, default: false },
    workers: { compare: scalar, default: 1 },
    lifetime: { compare: duration, default: 0 },
    paths: { compare: list, default: [] },
    projectId: { compare: scalar },
    startsAt: { compare: scalar },
    repo: {
      compare: wholeValue,
      default: null,
      members: { identifier: { compare: scalar }, branch: { compare: scalar } },
    },
    retention: { compare: wholeValue },
    source: { compare: wholeValue },
  },
  ownership: { by: 'claim' },
  absent: 'unmanaged',
  shortForms: {
    tags: { kind: 'Labels', spec: (value) => ({ labels: value }) },
    readers: { kind: 'Readers', spec: (value) => ({ names: value }) },
  },
  upgrade: ({ operations, ...rest }) =>
    operations === undefined || rest['runMode'] !== undefined
      ? { ...rest, ...(operations === undefined ? {} : { operations }) }
      : { ...rest, runMode: operations === false ? 'local' : 'remote' },
  check: ({ spec }, { target }) => [
    ...finding(spec['operations'] !== undefined, {
      code: 'contradiction',
      path: ['operations'],
      message: '"operations" and "runMode" say the same thing twice',
      related: { message: 'the other one', path: ['runMode'] },
    }),
    ...finding(spec['workers'] === 7, {
      code: 'not-allowed',
      path: ['workers'],
      message: `seven workers are unlucky in "${target.name}"`,
    }),
  ],
  ...unused,
};

function finding(applies: boolean, found: Omit<ResourceProblem, 'severity'>): ResourceProblem[] {
  return applies ? [{ ...found, severity: 'error' }] : [];
}

const labelsSpec = Type.Object(
  {
    labels: Type.Unsafe<Record<string, string>>({
      type: ['object', 'null'],
      additionalProperties: { type: 'string' },
    }),
    keep: Type.Optional(Type.Array(Type.String())),
  },
  closed,
);

/** A child of a parent. */
export const labelsKind: Kind = {
  name: 'Labels',
  service: 'workspaces',
  summary: 'The labels of a whole',
  names: parentKind.names,
  specSchema: jsonSchema(labelsSpec),
  fields: { labels: { compare: stringMap, default: {} }, keep: { compare: list, default: [], local: true } },
  ownership: { by: 'child', of: (address) => ({ ...address, kind: 'Parent' }) },
  absent: 'unmanaged',
  check: ({ spec }) =>
    Object.keys((spec['labels'] ?? {}) as Record<string, Json>).flatMap((key) =>
      finding(key.startsWith('trueup'), {
        code: 'reserved-tag',
        path: ['labels', key],
        message: `"${key}" is reserved`,
      }),
    ),
  ...unused,
};

/** A child of a parent that refers to other parents. */
export const readersKind: Kind = {
  name: 'Readers',
  service: 'workspaces',
  summary: 'Who may read a whole',
  names: parentKind.names,
  specSchema: jsonSchema(Type.Object({ names: nullable(Type.Array(Type.String())) }, closed)),
  fields: { names: { compare: set, default: [] } },
  ownership: { by: 'child', of: (address) => ({ ...address, kind: 'Parent' }) },
  absent: 'unmanaged',
  references: ({ address, spec }) =>
    ((spec['names'] ?? []) as string[]).map((name, index) => ({
      to: { kind: 'Parent', target: address.target, name },
      path: ['names', `${index}`],
    })),
  ...unused,
};

/** Owned by the ledger, by name; the service keeps its names in lower case. */
export const roleKind: Kind = {
  name: 'Role',
  service: 'cluster-auth',
  summary: 'A role',
  names: {
    pattern: /^[A-Za-z0-9-]+$/,
    description: 'letters, digits and "-"',
    fold: (name) => name.toLowerCase(),
  },
  specSchema: jsonSchema(
    Type.Object(
      { holders: Type.Array(Type.String(), { minItems: 1 }), ttl: Type.Optional(Type.Integer()) },
      closed,
    ),
  ),
  fields: { holders: { compare: set }, ttl: { compare: duration, default: 0 } },
  ownership: { by: 'ledger', limitedByOwns: true, undeclared: 'delete' },
  absent: 'unmanaged',
  ...unused,
};

/** One for each target, always replaced as a whole, with a secret. */
export const settingsKind: Kind = {
  name: 'Settings',
  service: 'cluster-auth',
  summary: 'The settings',
  names: { pattern: /^main$/, description: '"main"' },
  specSchema: jsonSchema(
    Type.Object(
      {
        host: Type.String(),
        authKey: Type.Optional(
          nullable(
            Type.Object(
              {
                env: Type.Optional(Type.String()),
                file: Type.Optional(Type.String()),
                version: Type.Optional(Type.Integer()),
              },
              closed,
            ),
          ),
        ),
      },
      closed,
    ),
  ),
  fields: { host: { compare: scalar }, authKey: { compare: secretVersion, default: null, writeOnly: true } },
  ownership: { by: 'ledger', limitedByOwns: false, undeclared: 'release' },
  absent: 'default',
  ...unused,
};

export const sampleKinds: Registry = new Map(
  [parentKind, labelsKind, readersKind, roleKind, settingsKind].map((kind) => [kind.name, kind]),
);

export const sampleDialects: ReadonlyMap<string, Dialect> = new Map(
  (
    [
      ['workspaces', 'neutral', undefined],
      ['workspaces', 'hosted', undefined],
      ['cluster-auth', 'neutral', 'cluster'],
      ['cluster-auth', 'fortress', undefined],
    ] as const
  ).map(([service, name, defaultMount]) => [
    `${service}/${name}`,
    {
      name,
      service,
      spokenBy: `a ${name} service`,
      rename: {},
      tokenHeader: 'authorization',
      ...(defaultMount === undefined ? {} : { defaultMount }),
      capabilities: new Set(),
    },
  ]),
);
