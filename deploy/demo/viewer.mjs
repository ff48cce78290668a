/**
 * In the browser: shows each `canvas[data-mesh]` of the page, whose attribute holds a binary glTF in base64, and lets the
 * pointer turn it. page.ts puts this file with its library into the page, which is opened without a network.
 */
import { Camera, GLTFLoader, Orbit, Program, Renderer, Texture, Transform, Vec3 } from "ogl";

const VERTEX = `
attribute vec3 position, normal; attribute vec2 uv;
uniform mat4 modelViewMatrix, projectionMatrix; uniform mat3 normalMatrix;
varying vec3 n; varying vec2 t;
void main() { n = normalMatrix * normal; t = uv; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }`;
/** Light from above and a little from everywhere, so that every side shows its form. */
const FRAGMENT = `
precision highp float;
uniform sampler2D map; uniform vec4 colour;
varying vec3 n; varying vec2 t;
void main() {
  vec3 away = normalize(gl_FrontFacing ? n : -n);
  float light = 0.45 + 0.35 * max(dot(away, normalize(vec3(0.4, 0.8, 0.5))), 0.0) + 0.2 * away.z;
  gl_FragColor = vec4(texture2D(map, t).rgb * colour.rgb * light, 1.0);
}`;
/** A turn takes 25 s while no hand is on it. */
const TURN_SPEED = 2.4;

for (const canvas of document.querySelectorAll("canvas[data-mesh]")) {
  show(canvas).catch((error) => canvas.replaceWith(`This browser cannot show the mesh: ${error}`));
}

async function show(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const renderer = new Renderer({ canvas, width, height, alpha: true, antialias: true, dpr: devicePixelRatio });
  const { gl } = renderer;
  const { buffer } = Uint8Array.from(atob(canvas.dataset["mesh"]), (sign) => sign.charCodeAt(0));
  const { scene } = await GLTFLoader.parse(gl, GLTFLoader.unpackGLB(buffer), "");
  const root = new Transform();
  for (const node of scene) node.setParent(root);
  root.updateMatrixWorld();
  const { middle, reach } = dress(gl, root);
  const camera = new Camera(gl, { aspect: width / height, far: 100 * reach });
  camera.position.set(middle[0] + 1.4 * reach, middle[1] + 1.1 * reach, middle[2] + 2.6 * reach);
  const orbit = new Orbit(camera, {
    element: canvas,
    target: middle,
    autoRotate: true,
    autoRotateSpeed: TURN_SPEED,
    enablePan: false,
  });
  const frame = () => {
    orbit.update();
    renderer.render({ scene: root, camera });
    requestAnimationFrame(frame);
  };
  frame();
}

/** Gives every part its colour. @returns the middle of the whole, and a length that fills the view with it */
function dress(gl, root) {
  const white = new Texture(gl, { image: new Uint8Array([255, 255, 255, 255]), width: 1, height: 1 });
  const [min, max] = [new Vec3(Infinity), new Vec3(-Infinity)];
  root.traverse((node) => {
    if (!node.geometry) return;
    const { baseColorFactor = [1, 1, 1, 1], baseColorTexture } = node.program.gltfMaterial ?? {};
    const map = baseColorTexture?.texture ?? white;
    const uniforms = { map: { value: map }, colour: { value: baseColorFactor } };
    node.program = new Program(gl, { vertex: VERTEX, fragment: FRAGMENT, uniforms, cullFace: null });
    node.geometry.computeBoundingBox();
    for (const corner of [node.geometry.bounds.min, node.geometry.bounds.max]) {
      const at = corner.clone().applyMatrix4(node.worldMatrix);
      for (const axis of [0, 1, 2]) {
        min[axis] = Math.min(min[axis], at[axis]);
        max[axis] = Math.max(max[axis], at[axis]);
      }
    }
  });
  const middle = new Vec3((min[0] + max[0]) / 2, (min[1] + max[1]) / 2, (min[2] + max[2]) / 2);
  return { middle, reach: Math.max(...[0, 1, 2].map((axis) => max[axis] - min[axis])) / 1.6 };
}
