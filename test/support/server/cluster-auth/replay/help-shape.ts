/** The parts of help that are compared: those that programs read. Sentences and the names for generated clients are left out. */
import type { RecordedAnswer } from './vectors.ts';

type Json = Readonly<Record<string, unknown>>;

interface Help extends Json {
  readonly help: string;
  readonly openapi: {
    readonly openapi: string;
    readonly paths: Readonly<Record<string, Json>>;
    readonly components: { readonly schemas: Readonly<Record<string, { readonly properties: Json }>> };
  };
}

interface Operation {
  readonly parameters?: readonly Json[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly 'application/json': { readonly schema: { readonly $ref: string } } };
  };
  readonly responses: Json;
}

/** Returns any other response unchanged. */
export function withoutHelpTexts(answer: RecordedAnswer): unknown {
  const body = answer.body as Help | null;
  if (body?.openapi === undefined) return answer;
  const { openapi, paths, components } = body.openapi;
  const propertiesAt = ($ref: string) =>
    pick(components.schemas[$ref.replace('#/components/schemas/', '')]?.properties ?? {}, typeOf);
  const shapeOf = (value: unknown) =>
    Array.isArray(value) ? value.map(shapeOfParameter) : shapeOfOperation(value as Operation, propertiesAt);
  return {
    ...answer,
    body: {
      members: Object.keys(body),
      seeAlso: body['see_also'],
      parameters: body.help.match(/^ {4}\w+ \(.+\)$/gm),
      openapi,
      paths: pick(paths, (path) => pick(path as Json, shapeOf)),
    },
  };
}

function shapeOfOperation(operation: Operation, propertiesAt: ($ref: string) => Json): unknown {
  const { parameters = [], requestBody, responses } = operation;
  return {
    parameters: parameters.map(shapeOfParameter),
    body: requestBody && propertiesAt(requestBody.content['application/json'].schema.$ref),
    statuses: Object.keys(responses),
  };
}

function shapeOfParameter({ name, in: place, required, schema }: Json): unknown {
  return { name, place, required, schema };
}

function typeOf(schema: unknown): unknown {
  const { type, format, items } = schema as Json;
  return { type, format, items };
}

/** The members that are objects or lists, without texts and extensions of OpenAPI (`x-…`). */
function pick(members: Json, change: (member: unknown) => unknown): Json {
  return Object.fromEntries(
    Object.entries(members)
      .filter(([name, member]) => typeof member === 'object' && !name.startsWith('x-'))
      .map(([name, member]) => [name, change(member)]),
  );
}
