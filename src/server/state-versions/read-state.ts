/**
 * What the service reads out of a state: its outputs and the resources that it manages.
 * Invariant: nothing else of a state is looked at, and nothing of it is changed.
 */
import { asObject } from '../json-api/body.ts';

export interface StateOutput {
  readonly name: string;
  /** As the state writes it: a word, or a list of words for types that are made of others. */
  readonly type: unknown;
  readonly value: unknown;
  readonly sensitive: boolean;
}

interface StateResource {
  readonly name: string;
  readonly type: string;
  readonly module: string;
  readonly count: number;
}

export interface ReadState {
  readonly serial: unknown;
  readonly lineage: unknown;
  readonly outputs: readonly StateOutput[];
  readonly resources: readonly StateResource[];
}

/** undefined for a text that is no state. */
export function readState(text: string): ReadState | undefined {
  const state = parseObject(text);
  if (state === undefined) return undefined;
  const resources = Array.isArray(state['resources']) ? state['resources'] : [];
  return {
    serial: state['serial'],
    lineage: state['lineage'],
    outputs: readOutputs(state['outputs']),
    resources: resources.flatMap((resource: unknown) => readResource(resource)),
  };
}

/** The outputs by themselves, which clients may send beside a state: `{name: {type, value, sensitive}}`. */
export function readOutputsText(text: string): readonly StateOutput[] | undefined {
  const outputs = parseObject(text);
  return outputs && readOutputs(outputs);
}

/** Whether a text can be a state for integrations to read (`json-state`): a JSON object, of which nothing is read here. */
export function isJsonState(text: string): boolean {
  return parseObject(text) !== undefined;
}

/** Managed resources only: what is merely read (`data`) is not the workspace's to destroy. */
function readResource(source: unknown): StateResource[] {
  const resource = asObject(source);
  if (resource?.['mode'] !== 'managed') return [];
  const { name, type, module, instances } = resource;
  return [
    {
      name: String(name),
      type: String(type),
      module: typeof module === 'string' ? module : 'root',
      count: Array.isArray(instances) ? instances.length : 0,
    },
  ];
}

function readOutputs(source: unknown): StateOutput[] {
  return Object.entries(asObject(source) ?? {}).map(([name, output]) => {
    const { type, value, sensitive } = asObject(output) ?? {};
    return { name, type: type ?? null, value: value ?? null, sensitive: sensitive === true };
  });
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}
