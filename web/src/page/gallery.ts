/* The scenes that come with the page. */
import { byId, el } from "./dom";

const texts = import.meta.glob("../../scenes/*.yaml", { query: "?raw", import: "default", eager: true }) as Record<string, string>;
const pictures = import.meta.glob("../../scenes/*.webp", { query: "?url", import: "default", eager: true }) as Record<string, string>;

export interface GalleryScene {
  id: string;
  name: string;
  about: string;
  kind: string;
  text: string;
  picture: string | undefined;
}

const ORDER = ["splash", "dam", "materials", "sand", "smoke", "jelly", "dam3d", "cloth", "grass", "honey", "fountain", "sph", "castle3d", "smoke3d"];

export const SCENES: GalleryScene[] = ORDER.map((id) => {
  const text = texts[`../../scenes/${id}.yaml`];
  const word = (key: string) => new RegExp(`\\b${key}: *(\\w+)`).exec(text)?.[1] ?? "";
  return {
    id, text, picture: pictures[`../../scenes/${id}.webp`],
    name: /^name: *(.+)$/m.exec(text)?.[1] ?? id,
    about: /^# (.+)$/m.exec(text)?.[1] ?? "",
    kind: `${word("type")} · ${word("dimension")}D`,
  };
});

export function buildGallery(choose: (s: GalleryScene) => void): void {
  byId("gallery").replaceChildren(...SCENES.map((s) => {
    const picture = s.picture ? el("img", { src: s.picture, alt: "", loading: "lazy", width: 320, height: 200 }) : el("div", { class: "no-picture" });
    return el("button", { class: "card", "data-scene": s.id, title: s.about, onclick: () => choose(s) },
      picture, el("span", { class: "card-name" }, s.name), el("span", { class: "card-kind" }, s.kind));
  }));
}

export function markScene(id: string | null): void {
  for (const card of document.querySelectorAll<HTMLElement>(".card"))
    card.classList.toggle("chosen", card.dataset.scene === id);
}
