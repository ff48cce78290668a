/**
 * 3D view of a GLB file: drag to turn, scroll to zoom. It draws in the page and not in a sandboxed frame. A GLB file has no scripts, and the
 * page's policy permits only requests to the service, which answers none without the console's header.
 */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Box3, DirectionalLight, HemisphereLight, PerspectiveCamera, Scene, Vector3, WebGLRenderer } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

/** Height of the view as a share of its width. */
const SHAPE = 0.75;

export default function MeshView({ src, name }: { readonly src: string; readonly name: string }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [problem, setProblem] = useState<string>();
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    if (canvas.current === null) return undefined;
    let hasLeft = false;
    const opened = openView(canvas.current, src);
    const show = async (): Promise<void> => {
      try {
        await opened;
        if (!hasLeft) setDrawn(true);
      } catch (error) {
        if (!hasLeft) setProblem(error instanceof Error ? error.message : String(error));
      }
    };
    void show();
    return () => {
      hasLeft = true;
      void opened.then((close) => close()).catch(() => undefined);
    };
  }, [src]);
  if (problem !== undefined)
    return <p class="hint">{`The 3D view is not available: ${problem}. Download the file to open it.`}</p>;
  return (
    <canvas ref={canvas} class="mesh" role="img" aria-label={`3D view of ${name}`} tabIndex={0} data-drawn={isDrawn} />
  );
}

/** Draws a file. Returns the function that frees the view. @throws Error without WebGL and for a file that is no GLB */
async function openView(canvas: HTMLCanvasElement, src: string): Promise<() => void> {
  const renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true });
  const { scene: mesh } = await new GLTFLoader().loadAsync(src);
  const scene = new Scene();
  const sun = new DirectionalLight(0xffffff, 2);
  sun.position.set(1, 2, 1.5);
  scene.add(mesh, new HemisphereLight(0xffffff, 0x8890a0, 2), sun);
  const box = new Box3().setFromObject(mesh);
  const centre = box.getCenter(new Vector3());
  const radius = box.getSize(new Vector3()).length() / 2 || 1;
  const camera = new PerspectiveCamera(40, 1 / SHAPE, radius / 100, radius * 100);
  camera.position.copy(centre).add(new Vector3(radius * 1.6, radius * 1.1, radius * 2.2));
  const controls = new OrbitControls(camera, canvas);
  controls.target.copy(centre);
  controls.listenToKeyEvents(canvas);
  const draw = (): void => renderer.render(scene, camera);
  const resize = new ResizeObserver(() => {
    renderer.setPixelRatio(devicePixelRatio);
    renderer.setSize(canvas.clientWidth, canvas.clientWidth * SHAPE, false);
    draw();
  });
  controls.addEventListener("change", draw);
  controls.update();
  resize.observe(canvas);
  return () => {
    resize.disconnect();
    controls.dispose();
    renderer.dispose();
  };
}
