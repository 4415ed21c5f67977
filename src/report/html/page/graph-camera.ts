/** The visible part of the graph: pan and zoom by mouse and touch. */

interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Camera {
  /** the point of the drawing in the upper left corner */
  readonly x: number;
  readonly y: number;
  /** pixels for one unit of the drawing */
  readonly scale: number;
}

const margin = 20;
const largest = 3;

/** The whole drawing, centred, at most at its own size. */
export function fullView(drawing: Size, screen: Size): Camera {
  return centred(drawing, screen, Math.min(1, fitting(drawing, screen)));
}

/** The height that shows the whole drawing at this width. */
export function wantedHeight(drawing: Size, width: number): number {
  const scale = Math.min(1, Math.max(0, width - 2 * margin) / Math.max(1, drawing.width));
  return Math.ceil(drawing.height * scale + 2 * margin);
}

function fitting(drawing: Size, screen: Size): number {
  const across = (screen.width - 2 * margin) / Math.max(1, drawing.width);
  const down = (screen.height - 2 * margin) / Math.max(1, drawing.height);
  return Math.max(0.01, Math.min(across, down));
}

function centred(drawing: Size, screen: Size, scale: number): Camera {
  return {
    x: drawing.width / 2 - screen.width / scale / 2,
    y: drawing.height / 2 - screen.height / scale / 2,
    scale,
  };
}

/** @param by distance in pixels */
export function pan(camera: Camera, by: { readonly x: number; readonly y: number }): Camera {
  return { ...camera, x: camera.x - by.x / camera.scale, y: camera.y - by.y / camera.scale };
}

/** @param at the point of the screen that does not move */
export function zoom(camera: Camera, factor: number, at: { readonly x: number; readonly y: number }): Camera {
  const scale = Math.min(largest, Math.max(0.02, camera.scale * factor));
  return {
    scale,
    x: camera.x + at.x / camera.scale - at.x / scale,
    y: camera.y + at.y / camera.scale - at.y / scale,
  };
}

/** Centres a point of the drawing. */
export function centre(camera: Camera, at: { readonly x: number; readonly y: number }, screen: Size): Camera {
  const { scale } = camera;
  return { scale, x: at.x - screen.width / scale / 2, y: at.y - screen.height / scale / 2 };
}

/** Moves and scales the camera, so that the drawing stays in view and is not smaller than necessary to see all of it. */
export function clamp(camera: Camera, drawing: Size, screen: Size): Camera {
  const scale = Math.max(Math.min(1, fitting(drawing, screen)), camera.scale);
  const within = (at: number, length: number, seen: number) => {
    const room = seen / scale;
    const spare = margin / scale;
    if (length + 2 * spare <= room) return Math.min(-spare, Math.max(length + spare - room, at));
    return Math.min(length + spare - room, Math.max(-spare, at));
  };
  if (scale !== camera.scale) return centred(drawing, screen, scale);
  return {
    scale,
    x: within(camera.x, drawing.width, screen.width),
    y: within(camera.y, drawing.height, screen.height),
  };
}

// Gestures on the graph: the mouse or one finger drags, two fingers zoom, a tap selects. The wheel zooms only with Ctrl.

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

/** A tap may move by this many pixels. */
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
    // The middle between two fingers moves half as far as one of them.
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
