/** docs/reference/manifests.md: every key of a stack and of manifests, from the descriptions that `trueup explain` prints, too. */
import { orderMembers } from '../../src/manifest/yaml/write-manifests.ts';
import { dialects } from '../../src/api/dialects.ts';
import { kinds } from '../../src/kinds/index.ts';
import { describeKinds, type FieldDescription } from '../../src/manifest/schema/describe-fields.ts';
import { apiVersion } from '../../src/manifest/schema/manifest-schema.ts';
import { stackDocumentSchema } from '../../src/manifest/schema/stack-schema.ts';
import type { Json } from '../../src/model/json.ts';
import type { Kind } from '../../src/model/kind.ts';
import {
  anchor,
  blocks,
  firstSentence,
  header,
  plain,
  table,
  withCode,
  yamlBlock,
  yamlLine,
} from './page.ts';

/** One key of a document, under its name in `trueup explain`. Keys of metadata are the same in all kinds of manifests. */
interface Key extends FieldDescription {
  readonly name: string;
}

/** The key that holds the source of a secret has exactly these members: the page describes them once. */
const sourceMembers = 'env,file';

const top = ['apiVersion', 'kind', 'metadata', 'spec'];

function keysOf(kind: string): readonly Key[] {
  const fields = describeKinds(kinds).find(({ name }) => name === kind)?.fields ?? [];
  const sources = fields.filter(({ path }) => membersOf(path, fields).join() === sourceMembers);
  return fields
    .filter(({ path }) => !top.includes(path) && !sources.some((source) => parentOf(path) === source.path))
    .map((field) => ({
      ...field,
      name: `${kind}.${field.path.replace(/^spec\./, '')}`,
      ...(sources.includes(field) ? { type: '[source of a secret](#sources-of-secrets)' } : {}),
    }));
}

function membersOf(path: string, fields: readonly FieldDescription[]): string[] {
  return fields.filter((field) => parentOf(field.path) === path).map((field) => lastOf(field.path));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.')));
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** Removes the sentence about null, which has its own line. */
function withoutNull(description: string): string {
  return description.replace(/(?:^|(?<=[.] ))(?:[^.]*(?:or|and) )?null: [^.]*(?:\.\w[^.]*)*\.$/s, '').trim();
}

function keyText(key: Key): string[] {
  const [example = null] = key.examples;
  const shown = { [lastOf(key.path)]: example };
  const isShort = typeof example !== 'object' && !String(example).includes('\n');
  const facts = [...factsOf(key), ...(isShort ? [`Example: \`${yamlLine(shown)}\``] : [])];
  return [
    `### ${key.name}`,
    plain(withCode(withoutNull(key.description))),
    facts.map((fact) => `- ${fact}`).join('\n'),
    ...(isShort ? [] : [yamlBlock(shown)]),
  ];
}

function factsOf({ type, format, values, required, default: leftOut, null: ofNull, ...key }: Key): string[] {
  return [
    `Type: ${type.startsWith('[') ? type : plain(withCode(type))}${required ? ', **required**' : ''}`,
    ...(format === undefined ? [] : [`Format: ${plain(withCode(format))}`]),
    ...(values.length === 0 ? [] : [`Values: ${values.map((word) => `\`${word}\``).join(', ')}`]),
    ...(required || leftOut === 'not set' ? [] : [`Left out: ${valueText(leftOut)}`]),
    ...(ofNull === undefined ? [] : [`\`null\`: ${valueText(ofNull)}`]),
    ...(key.createOnly ? ['Used only when the resource is created'] : []),
    ...(key.deprecated ? ['Deprecated'] : []),
  ];
}

/** A clause, or a value in JSON with or without a clause. */
function valueText(text: string): string {
  const [, value = '', rest = ''] = /^(true|false|\d+|"[^"]*"|\[\]|\{\})((?:: .*)?)$/.exec(text) ?? [];
  return value === '' ? plain(withCode(text)) : `\`${value}\`${plain(withCode(rest))}`;
}

function glance(keys: readonly Key[]): string {
  return table(
    ['key', 'what it is'],
    keys.map(({ name, description, required }) => [
      `[\`${name.replace(/^\w+\./, '')}\`](#${anchor(name)})${required ? ' (required)' : ''}`,
      plain(withCode(firstSentence(withoutNull(description)))),
    ]),
  );
}

const absentText = {
  unmanaged: 'A field that is left out is not managed: trueup neither compares nor changes it.',
  default: 'A field that is left out is reset to its default, and the plan shows that.',
} as const;

function kindText(kind: Kind): string[] {
  const { name, names, specSchema, absent, service, summary } = kind;
  const all = keysOf(name);
  const keys = all.filter(({ path }) => path.startsWith('spec.'));
  const example = all.find(({ path }) => path === 'metadata.name')?.examples[0] ?? '';
  return [
    `## ${name}`,
    `${summary}.`,
    `For targets with \`service: ${service}\`. Its name: ${plain(withCode(names.description))}.`,
    `${absentText[absent]} \`null\` sets a field to the default of the service.`,
    yamlBlock({
      apiVersion,
      kind: name,
      metadata: { name: example },
      spec: orderMembers(firstExample(specSchema), specSchema),
    }),
    glance(keys),
    ...keys.flatMap(keyText),
  ];
}

function firstExample({ examples }: Readonly<Record<string, unknown>>): Json {
  return Array.isArray(examples) ? examples[0] : {};
}

function dialectTable(): string {
  return table(
    ['service', 'dialect', 'what speaks it', 'usual mount'],
    [...dialects.values()].map(({ service, name, spokenBy, defaultMount }) => [
      `\`${service}\``,
      `\`${name}\``,
      withCode(spokenBy),
      defaultMount === undefined ? '' : `\`${defaultMount}\``,
    ]),
  );
}

export function manifestsPage(): string {
  const stack = keysOf('Stack');
  const [first = ''] = [...kinds.keys()];
  const metadata = keysOf(first)
    .filter(({ path }) => path.startsWith('metadata.'))
    // Each kind says what its names are.
    .map(({ format, ...key }) => ({
      ...key,
      name: key.path,
      ...(format === undefined || key.path === 'metadata.name' ? {} : { format }),
    }));
  return blocks(
    header('the schemas in src/manifest/schema and src/kinds/*/schema.ts'),
    '# Stack and manifests',
    `Every key that you can write. A stack file and each manifest is a YAML document with \`apiVersion: ${apiVersion}\`, a \`kind\`, \`metadata\` and \`spec\`.`,
    'Headings below leave `spec` out: `Workspace.autoApply` is `spec.autoApply` of a `Workspace`. `trueup explain Workspace.autoApply` prints the same in the terminal.',
    'For an editor, add a first line such as `# yaml-language-server: $schema=…/schemas/stack.schema.json`. [Files](files.md) lists the schemas.',
    '## Stack',
    'The unit of plan and apply: a name, its targets, its guards. The file is usually `trueup.yaml`.',
    yamlBlock(firstExample(stackDocumentSchema(kinds))),
    glance(stack),
    stack.flatMap(keyText),
    '## Sources of secrets',
    'A stack names where a secret is, never the secret itself. trueup reads the secret when it needs it. Write one of these:',
    table(
      ['source', 'what it is'],
      [
        ['`{ env: NAME }`', 'the environment variable that holds it'],
        ['`{ file: PATH }`', 'the file that holds it, relative to the stack file'],
      ],
    ),
    '## Dialects',
    'A dialect is the variant of an API that a service speaks. Set it as `dialect` of a target.',
    dialectTable(),
    '## metadata',
    'The `metadata` of a manifest says which resource it is, and how trueup manages it. It is the same in all kinds.',
    glance(metadata),
    metadata.flatMap(keyText),
    [...kinds.values()].flatMap(kindText),
  );
}
