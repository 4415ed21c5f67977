/**
 * Runs nodes of a graph as soon as they may run. Needs are dependencies: when one fails, what hangs on it is skipped and
 * everything else goes on. Order numbers of one lane are barriers: they only wait. Every node ends with an ending.
 */

export interface Node {
  /** unique among the nodes of a run */
  readonly id: string;
  /** nodes that run against one target; each lane has its own concurrency and its own barriers */
  readonly lane: string;
  readonly order: number;
  /** nodes that must have ended well; what is no node of this run was met before it began */
  readonly needs: readonly string[];
}

export type NodeResult = 'ok' | 'failed' | 'skipped';

export interface ScheduleOptions<N extends Node> {
  /** how many nodes of one lane may run at once */
  readonly concurrency: number;
  /** What it cannot do is `failed`; a rejection is a bug, after which nothing new is started. */
  perform(node: N): Promise<NodeResult>;
  /** told of nodes that are skipped because something they need did not end well */
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
  /** may run now, first come first served */
  readonly ready: N[];
  /** what is left at each order number, rising; only the first of them is open */
  readonly stages: { readonly order: number; readonly left: Map<string, N> }[];
}

/** What a node still waits for besides its barrier. */
interface WaitingNode {
  needs: number;
  /** a need that did not end well */
  broken?: string;
}

class Run<N extends Node> {
  readonly #options: ScheduleOptions<N>;
  readonly #lanes = new Map<string, Lane<N>>();
  readonly #waits = new Map<string, WaitingNode>();
  readonly #dependents = new Map<string, N[]>();
  /** ended, but what that means for others is not worked out yet */
  readonly #ended: { readonly node: N; readonly ending: NodeResult }[] = [];
  #left: number;
  #running = 0;
  #bug: Error | undefined;
  #settle: (bug?: Error) => void = () => {};

  constructor(nodes: readonly N[], options: ScheduleOptions<N>) {
    this.#options = options;
    this.#left = nodes.length;
    const ids = new Set(nodes.map(({ id }) => id));
    if (ids.size < nodes.length) throw new Error('two nodes of a run have one id');
    for (const node of nodes) {
      const needs = [...new Set(node.needs)].filter((need) => ids.has(need));
      this.#waits.set(node.id, { needs: needs.length });
      for (const need of needs) listOf(this.#dependents, need).push(node);
    }
    for (const [lane, members] of Map.groupBy(nodes, (node) => node.lane)) {
      const stages = [...Map.groupBy(members, (node) => node.order)]
        .sort(([a], [b]) => a - b)
        .map(([order, stage]) => ({ order, left: new Map(stage.map((node) => [node.id, node])) }));
      this.#lanes.set(lane, { running: 0, ready: [], stages });
    }
  }

  finish(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#settle = (bug) => (bug === undefined ? resolve() : reject(bug));
      for (const lane of this.#lanes.values()) this.#openStage(lane);
      this.#workOut();
      this.#startMore();
    });
  }

  #openStage({ stages }: Lane<N>): void {
    for (const node of stages[0]?.left.values() ?? []) this.#considerAtStage(node);
  }

  /** Of a node whose barrier is open: it may run, it never may, or it waits on. */
  #considerAtStage(node: N): void {
    const wait = this.#waits.get(node.id);
    if (wait === undefined) return;
    if (wait.broken !== undefined) {
      this.#waits.delete(node.id);
      this.#options.skipped(node, wait.broken);
      this.#ended.push({ node, ending: 'skipped' });
    } else if (wait.needs === 0) {
      this.#waits.delete(node.id);
      this.#laneOf(node).ready.push(node);
    }
  }

  /** A list and no recursion: one failure may skip a chain of any length. */
  #workOut(): void {
    for (let end = this.#ended.shift(); end !== undefined; end = this.#ended.shift()) {
      const { node, ending } = end;
      this.#left -= 1;
      for (const dependent of this.#dependents.get(node.id) ?? []) this.#hear(dependent, node, ending);
      const lane = this.#laneOf(node);
      lane.stages[0]?.left.delete(node.id);
      while (lane.stages[0]?.left.size === 0) {
        lane.stages.shift();
        this.#openStage(lane);
      }
    }
  }

  #hear(dependent: N, need: N, ending: NodeResult): void {
    const wait = this.#waits.get(dependent.id);
    if (wait === undefined) return;
    wait.needs -= 1;
    if (ending !== 'ok') wait.broken ??= need.id;
    if (this.#laneOf(dependent).stages[0]?.order === dependent.order) this.#considerAtStage(dependent);
  }

  #startMore(): void {
    for (const lane of this.#lanes.values()) {
      while (this.#bug === undefined && lane.running < this.#options.concurrency) {
        const node = lane.ready.shift();
        if (node === undefined) break;
        void this.#start(lane, node);
      }
    }
    if (this.#running > 0) return;
    const stuck = `calls wait for each other: ${[...this.#waits.keys()].join(', ')}`;
    this.#settle(this.#bug ?? (this.#left === 0 ? undefined : new Error(stuck)));
  }

  async #start(lane: Lane<N>, node: N): Promise<void> {
    lane.running += 1;
    this.#running += 1;
    try {
      this.#ended.push({ node, ending: await this.#options.perform(node) });
      this.#workOut();
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
