/**
 * The answers to `?help=1` at the paths of a mount: a text, and a description in OpenAPI 3. Both are made from the tables of paths
 * and fields that also serve requests.
 */
import type { ClusterAuthDialect } from '../kernel/dialects.ts';
import { answerBare, type SecretsAnswer } from './answer.ts';
import type { Operation } from './call.ts';
import {
  asBoolean,
  asDuration,
  asInteger,
  asList,
  asPairs,
  asText,
  type FieldReader,
} from './field-coercion.ts';

/** A path below a mount, as `role/:name`. */
export interface HelpTopic {
  readonly path: string;
  readonly fields: Readonly<Record<string, FieldReader<unknown>>>;
  readonly operations: readonly Operation[];
}

type Schema = Readonly<Record<string, unknown>>;

const STRING: Schema = { type: 'string' };

/** For each reader of fields: the name of its type in the help text, and the schema. */
const TYPES = new Map<FieldReader<unknown>, readonly [word: string, schema: Schema]>([
  [asText, ['string', STRING]],
  [asList, ['slice', { type: 'array', items: STRING }]],
  [asBoolean, ['bool', { type: 'boolean' }]],
  [asInteger, ['int', { type: 'integer' }]],
  [asDuration, ['duration (sec)', { type: 'integer', format: 'seconds' }]],
  [asPairs, ['map', { type: 'object' }]],
]);

/** Help about a path below the mount. */
export function answerPathHelp(topic: HelpTopic, path: string, dialect: ClusterAuthDialect): SecretsAnswer {
  const parameters = Object.entries({ ...topic.fields, ...pathFields(topic) })
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, reader]) => `    ${name} (${TYPES.get(reader)?.[0] ?? 'any'})`);
  const text = [`Path: ${path}`, `Form: ${templateOf(topic)}`, 'Parameters:', ...parameters].join('\n\n');
  return answer(text, [topic], dialect);
}

/** Help about a mount as a whole. */
export function answerMountHelp(topics: readonly HelpTopic[], dialect: ClusterAuthDialect): SecretsAnswer {
  return answer(
    ['Paths:', ...topics.map((topic) => `    ${templateOf(topic)}`)].join('\n\n'),
    topics,
    dialect,
  );
}

function answer(help: string, topics: readonly HelpTopic[], { version }: ClusterAuthDialect): SecretsAnswer {
  const writable = topics.filter(({ operations }) => operations.includes('write'));
  const openapi = {
    openapi: '3.0.2',
    info: { title: 'HTTP API', version },
    paths: Object.fromEntries(topics.map((topic) => [templateOf(topic), pathItem(topic)])),
    components: {
      schemas: Object.fromEntries(writable.map((topic) => [schemaName(topic), bodySchema(topic)])),
    },
  };
  return answerBare(200, { help, openapi, see_also: null });
}

/** The path with names in braces, such as `/role/{name}`. */
function templateOf({ path }: HelpTopic): string {
  return `/${path.replaceAll(/:(\w+)/g, '{$1}')}`;
}

function pathFields({ path }: HelpTopic): HelpTopic['fields'] {
  return Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, asText]));
}

function pathItem(topic: HelpTopic): Schema {
  const has = (operation: Operation) => topic.operations.includes(operation);
  const pathNames = Object.keys(pathFields(topic));
  const list = { name: 'list', in: 'query', required: true, schema: { ...STRING, enum: ['true'] } };
  const responses = { 200: { description: 'OK' } };
  const content = { 'application/json': { schema: { $ref: `#/components/schemas/${schemaName(topic)}` } } };
  return {
    ...(pathNames.length > 0 && {
      parameters: pathNames.map((name) => ({ name, in: 'path', required: true, schema: STRING })),
    }),
    ...(has('read') && { get: { responses } }),
    ...(has('list') && { get: { parameters: [list], responses } }),
    ...(has('write') && { post: { requestBody: { required: true, content }, responses } }),
    ...(has('delete') && { delete: { responses: { 204: { description: 'No content' } } } }),
  };
}

/** The name of the schema of a body, such as `RoleRequest`. */
function schemaName({ path }: HelpTopic): string {
  return `${path.charAt(0).toUpperCase()}${path.slice(1).replace(/\/.*$/, '')}Request`;
}

function bodySchema({ fields }: HelpTopic): Schema {
  const properties = Object.entries(fields).map(([name, reader]) => [name, TYPES.get(reader)?.[1] ?? {}]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}
