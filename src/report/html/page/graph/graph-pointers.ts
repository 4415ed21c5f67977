/** Mouse and fingers on the graph: one drags, two zoom, a touch that does not move chooses. The wheel zooms with Ctrl alone, else the page scrolls. */

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Gestures {
  onPan(by: Point): void;
  /** @param at on the frame */
  onZoom(factor: number, at: Point): void;
  onTap(target: Element): void;
}

/** A hand is never quite still. */
const stillness = 4;

export function handleTouch(frame: HTMLElement, { onPan, onZoom, onTap }: Gestures): void {
  const down = new Map<number, Point>();
  let moved = 0;
  let tapped: Element | undefined;
  const inFrame = ({ x, y }: Point) => {
    const { left, top } = frame.getBoundingClientRect();
    return { x: x - left, y: y - top };
  };
  frame.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (down.size === 1) {
      moved = 0;
      tapped = event.target instanceof Element ? event.target : undefined;
    } else tapped = undefined;
    frame.setPointerCapture(event.pointerId);
  });
  frame.addEventListener('pointermove', (event) => {
    const before = down.get(event.pointerId);
    if (before === undefined) return;
    const now = { x: event.clientX, y: event.clientY };
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    down.set(event.pointerId, now);
    moved += Math.hypot(now.x - before.x, now.y - before.y);
    if (other === undefined) {
      if (moved > stillness) onPan({ x: now.x - before.x, y: now.y - before.y });
      return;
    }
    // Both fingers pan by half of what one of them moves.
    onPan({ x: (now.x - before.x) / 2, y: (now.y - before.y) / 2 });
    const apart = Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
    const factor = Math.hypot(now.x - other.x, now.y - other.y) / apart;
    onZoom(factor, inFrame({ x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 }));
  });
  const end = (event: PointerEvent) => {
    if (!down.delete(event.pointerId)) return;
    if (event.type === 'pointerup' && down.size === 0 && moved <= stillness && tapped !== undefined)
      onTap(tapped);
  };
  frame.addEventListener('pointerup', end);
  frame.addEventListener('pointercancel', end);
  frame.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const pixels = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * 16;
      onZoom(Math.exp(-pixels / 300), inFrame({ x: event.clientX, y: event.clientY }));
    },
    { passive: false },
  );
}
