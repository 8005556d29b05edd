// Unpacks the page's script, which the policy allows by its digest, and runs it.
const packed = Uint8Array.from(atob(document.getElementById("script").textContent), (sign) => sign.charCodeAt(0));
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const script = Object.assign(document.createElement("script"), { type: "module" });
script.textContent = await new Response(stream).text();
document.body.append(script);
