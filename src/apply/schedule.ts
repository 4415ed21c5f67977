/**
 * Runs the nodes of a graph as soon as they may run. Needs are dependencies: when a node fails, its dependents are skipped and
 * all others continue. The order numbers of one lane are barriers: later nodes wait until all earlier ones have ended, with any result.
 * Every node ends with a result.
 */

export interface Node {
  /** unique among the nodes of a run */
  readonly id: string;
  /** group of nodes that run against one target; each lane has its own concurrency and its own barriers */
  readonly lane: string;
  readonly order: number;
  /** nodes that must have ended with `ok`; ids of nodes that are not in this run count as fulfilled */
  readonly needs: readonly string[];
}

export type NodeResult = 'ok' | 'failed' | 'skipped';

interface ScheduleOptions<N extends Node> {
  /** how many nodes of one lane may run at once */
  readonly concurrency: number;
  /** Runs a node. A failure is the result `failed`; a rejection is a bug, after which no more nodes are started. */
  perform(node: N): Promise<NodeResult>;
  /** Called for a node that is skipped because a node that it needs did not end with `ok`. */
  skipped(node: N, because: string): void;
}

/**
 * Nodes of one lane and one order start in the order in which they are given, as far as their needs allow.
 * @throws when nothing can run although nodes are left (a cycle that the planner should have refused), and what
 * `perform` rejects with, once all that was running has ended
 */
export async function schedule<N extends Node>(
  nodes: readonly N[],
  options: ScheduleOptions<N>,
): Promise<void> {
  await new Run(nodes, options).finish();
}

interface Lane<N> {
  running: number;
  /** nodes that may run, in the order of their start; the first `started` of them have started */
  readonly ready: N[];
  started: number;
  /** the nodes left at each order number, ascending; only those of the first may run */
  readonly stages: { readonly order: number; readonly left: Map<string, N> }[];
}

/** A node that has not started. */
interface WaitingNode {
  /** the number of its needs that have not ended */
  openNeeds: number;
  /** a need that did not end with `ok` */
  broken?: string;
}

class Run<N extends Node> {
  readonly #options: ScheduleOptions<N>;
  readonly #lanes = new Map<string, Lane<N>>();
  readonly #waiting = new Map<string, WaitingNode>();
  readonly #dependents = new Map<string, N[]>();
  /** nodes that have ended, but whose dependents were not updated yet */
  readonly #ended: { readonly node: N; readonly result: NodeResult }[] = [];
  #left: number;
  #running = 0;
  #bug: Error | undefined;
  #complete: (bug?: Error) => void = () => {};

  constructor(nodes: readonly N[], options: ScheduleOptions<N>) {
    this.#options = options;
    this.#left = nodes.length;
    const ids = new Set(nodes.map(({ id }) => id));
    if (ids.size < nodes.length) throw new Error('two nodes of a run have the same id');
    for (const node of nodes) {
      const needs = [...new Set(node.needs)].filter((need) => ids.has(need));
      this.#waiting.set(node.id, { openNeeds: needs.length });
      for (const need of needs) listOf(this.#dependents, need).push(node);
    }
    for (const [lane, members] of Map.groupBy(nodes, (node) => node.lane)) {
      const stages = [...Map.groupBy(members, (node) => node.order)]
        .sort(([a], [b]) => a - b)
        .map(([order, stage]) => ({ order, left: new Map(stage.map((node) => [node.id, node])) }));
      this.#lanes.set(lane, { running: 0, ready: [], started: 0, stages });
    }
  }

  finish(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#complete = (bug) => (bug === undefined ? resolve() : reject(bug));
      for (const lane of this.#lanes.values()) this.#openStage(lane);
      this.#updateDependents();
      this.#startMore();
    });
  }

  #openStage({ stages }: Lane<N>): void {
    for (const node of stages[0]?.left.values() ?? []) this.#startOrSkip(node);
  }

  /** For a node whose stage is open: starts it, skips it, or lets it wait. */
  #startOrSkip(node: N): void {
    const wait = this.#waiting.get(node.id);
    if (wait === undefined) return;
    if (wait.broken !== undefined) {
      this.#waiting.delete(node.id);
      this.#options.skipped(node, wait.broken);
      this.#ended.push({ node, result: 'skipped' });
    } else if (wait.openNeeds === 0) {
      this.#waiting.delete(node.id);
      this.#laneOf(node).ready.push(node);
    }
  }

  /** Updates the dependents of ended nodes. Not recursive, because one failure may skip a chain of any length. */
  #updateDependents(): void {
    for (let end = this.#ended.shift(); end !== undefined; end = this.#ended.shift()) {
      const { node, result } = end;
      this.#left -= 1;
      for (const dependent of this.#dependents.get(node.id) ?? []) this.#needEnded(dependent, node, result);
      const lane = this.#laneOf(node);
      lane.stages[0]?.left.delete(node.id);
      while (lane.stages[0]?.left.size === 0) {
        lane.stages.shift();
        this.#openStage(lane);
      }
    }
  }

  #needEnded(dependent: N, need: N, result: NodeResult): void {
    const wait = this.#waiting.get(dependent.id);
    if (wait === undefined) return;
    wait.openNeeds -= 1;
    if (result !== 'ok') wait.broken ??= need.id;
    if (this.#laneOf(dependent).stages[0]?.order === dependent.order) this.#startOrSkip(dependent);
  }

  #startMore(): void {
    for (const lane of this.#lanes.values()) {
      while (this.#bug === undefined && lane.running < this.#options.concurrency) {
        // Not `shift`: for an array of many nodes, it moves all that are left.
        const node = lane.ready[lane.started];
        if (node === undefined) break;
        lane.started += 1;
        void this.#start(lane, node);
      }
    }
    if (this.#running > 0) return;
    const stuck = `calls wait for each other: ${[...this.#waiting.keys()].join(', ')}`;
    this.#complete(this.#bug ?? (this.#left === 0 ? undefined : new Error(stuck)));
  }

  async #start(lane: Lane<N>, node: N): Promise<void> {
    lane.running += 1;
    this.#running += 1;
    try {
      this.#ended.push({ node, result: await this.#options.perform(node) });
      this.#updateDependents();
    } catch (error) {
      this.#bug ??= error instanceof Error ? error : new Error(String(error));
    }
    lane.running -= 1;
    this.#running -= 1;
    this.#startMore();
  }

  #laneOf(node: N): Lane<N> {
    const lane = this.#lanes.get(node.lane);
    if (lane === undefined) throw new Error(`no lane ${node.lane}`);
    return lane;
  }
}

function listOf<K, V>(lists: Map<K, V[]>, key: K): V[] {
  const known = lists.get(key);
  if (known !== undefined) return known;
  const fresh: V[] = [];
  lists.set(key, fresh);
  return fresh;
}
