// The search of the site without a server: browsers start no worker from a file, so its script
// runs in a hidden frame, with the functions that a worker has.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = (this.inner = frame.contentWindow);
      const load = (source) => new Promise((done) => {
        const script = inner.document.createElement("script");
        script.onload = script.onerror = done;
        script.src = new URL(source, location);
        inner.document.body.append(script);
      });
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = (...urls) =>
        urls.reduce((before, next) => before.then(() => load(next)), Promise.resolve());
      this.loaded = load(url);
    }
    postMessage(data) {
      this.loaded.then(() => {
        this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data }));
      });
    }
    terminate() {
      this.inner.frameElement.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
