"""An HTTP/2 server, made with h2, that misbehaves deliberately.

usage: misbehaving_server.py MODE CERTIFICATE KEY

Prints "port N" first, then lines about what it saw: "max N" (streams open at once beyond what it had announced),
"cancelled N" (streams without an answer that the client reset with CANCEL so far).
"""
import socket
import ssl
import struct
import sys
import threading

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings
import hyperframe.frame as frames

MODE, CERTIFICATE, KEY = sys.argv[1:4]
LIMIT = h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS
WINDOW = h2.settings.SettingCodes.INITIAL_WINDOW_SIZE
TABLE = h2.settings.SettingCodes.HEADER_TABLE_SIZE
output = threading.Lock()
cancelled = 0


def tell(text):
    with output:
        print(text, flush=True)


def text(value):
    return value if isinstance(value, str) else value.decode()


def split(data):
    """Splits serialised frames."""
    view, found = memoryview(data), []
    while len(view) >= 9:
        frame, length = frames.Frame.parse_frame_header(view[:9])
        frame.parse_body(view[9:9 + length])
        found.append(frame)
        view = view[9 + length:]
    return found


class Connection:
    def __init__(self, sock):
        self.sock = sock
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        self.allowed = self.announced = {"limits": 1}.get(MODE, 100)
        self.worst = 0
        self.open = set()
        self.requests = 0
        self.held = []
        self.waiting = {}
        self.fields = {}

    def run(self):
        if MODE == "silent":
            while self.sock.recv(65536):
                pass
            return
        values = {LIMIT: self.announced}
        if MODE == "nolimit":
            values = {WINDOW: 65535}
        if MODE == "smallwindow":
            values[WINDOW] = 16
        if MODE == "tables":
            values[TABLE] = 1024
        self.h2.local_settings = h2.settings.Settings(client=False, initial_values=values)
        self.h2.initiate_connection()
        self.flush()
        while True:
            data = self.sock.recv(65536)
            if not data:
                return
            for event in self.h2.receive_data(data):
                self.handle(event)
            self.flush()

    def flush(self):
        data = self.h2.data_to_send()
        if not data:
            return
        if MODE == "slow":
            for position in range(len(data)):
                self.sock.sendall(data[position:position + 1])
            return
        if MODE in ("padding", "continuation"):
            data = b"".join(self.bent(frame) for frame in split(data))
        self.sock.sendall(data)

    def bent(self, frame):
        if not isinstance(frame, frames.HeadersFrame):
            return frame.serialize()
        if MODE == "padding":
            frame.flags.add("PADDED")
            frame.pad_length = 200
            return frame.serialize()
        # An empty HEADERS frame, then CONTINUATION frames.
        block, frame.data = frame.data, b""
        frame.flags.discard("END_HEADERS")
        pieces = [block[:1], block[1:2], block[2:]]
        parts = [frame.serialize()]
        for position, piece in enumerate(pieces):
            more = frames.ContinuationFrame(frame.stream_id)
            more.data = piece
            if position == len(pieces) - 1:
                more.flags.add("END_HEADERS")
            parts.append(more.serialize())
        return b"".join(parts)

    def handle(self, event):
        global cancelled
        if isinstance(event, h2.events.RequestReceived):
            self.open.add(event.stream_id)
            self.fields[event.stream_id] = [(text(name), text(value)) for name, value in event.headers]
            if len(self.open) > self.allowed:
                self.worst = max(self.worst, len(self.open))
                tell("max %d" % self.worst)
        elif isinstance(event, h2.events.DataReceived):
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.SettingsAcknowledged):
            # The client knows the limit from here on, but earlier streams may stay open.
            self.allowed = max(self.announced, len(self.open))
        elif isinstance(event, h2.events.StreamReset):
            self.open.discard(event.stream_id)
            if event.error_code == 8 and event.stream_id in self.held:
                cancelled += 1
                tell("cancelled %d" % cancelled)
        elif isinstance(event, h2.events.WindowUpdated):
            for stream in list(self.waiting):
                self.pour(stream)
        elif isinstance(event, h2.events.StreamEnded):
            self.requests += 1
            getattr(self, MODE, self.plain)(event.stream_id)

    def answer(self, stream, status=200, body=b"", fields=()):
        self.open.discard(stream)
        self.h2.send_headers(stream, [(":status", str(status)), *fields], end_stream=not body)
        if body:
            self.waiting[stream] = body
            self.pour(stream)

    def pour(self, stream):
        body = self.waiting[stream]
        while body:
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size, len(body))
            if room <= 0:
                self.waiting[stream] = body
                return
            piece, body = body[:room], body[room:]
            if MODE == "padding" and len(piece) + 101 <= self.h2.local_flow_control_window(stream):
                self.h2.send_data(stream, piece, end_stream=not body, pad_length=100)
            else:
                self.h2.send_data(stream, piece, end_stream=not body)
        del self.waiting[stream]

    def reset(self, stream, code):
        self.open.discard(stream)
        self.h2.reset_stream(stream, code)

    def announce(self, limit):
        # A higher limit counts at once, as the client may use it before its acknowledgement arrives.
        self.announced = limit
        self.allowed = max(self.allowed, limit)
        self.h2.update_settings({LIMIT: limit})

    # The modes.

    def plain(self, stream):
        self.answer(stream)

    def limits(self, stream):
        self.answer(stream)
        if self.requests == 1:
            self.announce(1000)
        elif self.requests == 1200:
            self.announce(10)

    def tables(self, stream):
        # Python's hpack refuses a block that lacks a required table size update at its start.
        fields = self.fields.pop(stream)
        values = dict(fields)
        right = (len(fields) == 7 and values["authorization"] == "bearer not-a-secret"
                 and values[":path"].rsplit("/", 1)[1] == values["apns-id"].rsplit("-", 1)[1])
        self.answer(stream, status=200 if right else 400)
        sizes = {100: 0, 200: 65536, 300: 64, 400: 4096, 500: 2000}
        if self.requests in sizes:
            self.h2.update_settings({TABLE: sizes[self.requests]})

    def goaway(self, stream):
        self.held.append(stream)
        if len(self.held) == 90 and self.requests == 90:
            last = sorted(self.held)[49]
            frame = frames.GoAwayFrame(0, last_stream_id=last, error_code=0,
                                       additional_data=b'{"reason":"Shutdown"}')
            self.flush()
            self.sock.sendall(frame.serialize())
            for held in sorted(self.held)[:50]:
                self.answer(held)

    def badcertificate(self, stream):
        frame = frames.GoAwayFrame(0, last_stream_id=0, error_code=0,
                                   additional_data=b'{"reason":"BadCertificateEnvironment"}')
        self.sock.sendall(frame.serialize())
        raise ConnectionError("as APNs does: GOAWAY, then the end")

    def refuse(self, stream):
        if stream % 3 == 0:
            self.reset(stream, 7)
        else:
            self.answer(stream)

    def fail(self, stream):
        if stream % 3 == 0:
            self.reset(stream, 2)
        else:
            self.answer(stream)

    def stall(self, stream):
        if stream % 10 == 1:
            self.held.append(stream)
        else:
            self.answer(stream)

    def hangup(self, stream):
        if self.requests == 50:
            # SO_LINGER 0: a TCP reset in the middle of everything.
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            raise ConnectionError("on purpose")
        self.answer(stream)

    def huge(self, stream):
        self.answer(stream, 500, b"x" * (1 << 20))

    def bighead(self, stream):
        # 40 KB of fields: h2 itself splits them into HEADERS and CONTINUATION.
        self.answer(stream, 429, b"slow down", [("x-%d" % n, "v" * 4000) for n in range(10)] + [("retry-after", "7")])

    def early(self, stream):
        self.answer(stream, 413, b"too large")

    def informational(self, stream):
        self.h2.send_headers(stream, [(":status", "103"), ("link", "</a>; rel=preload")])
        self.answer(stream, 200)

    def trailers(self, stream):
        self.open.discard(stream)
        self.h2.send_headers(stream, [(":status", "400")])
        self.h2.send_data(stream, b"body")
        self.h2.send_headers(stream, [("x-trailer", "1")], end_stream=True)

    def padding(self, stream):
        self.answer(stream, 400, b'{"reason":"padded"}' * 100)

    def continuation(self, stream):
        self.answer(stream, 400, b"in pieces", [("retry-after", "3"), ("x-long", "y" * 500)])

    def slow(self, stream):
        self.answer(stream, 400, b'{"reason":"slow"}')

    def garbage(self, stream):
        if self.requests == 20:
            self.flush()
            self.sock.sendall(b"\x00\x00\x04\x00\x01\x7f\xff\xff\xffHTTP/1.1 500 what is this\r\n\r\n")
        else:
            self.answer(stream)


def serve(sock, context):
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with context.wrap_socket(sock, server_side=True) as secure:
            Connection(secure).run()
    except (OSError, h2.exceptions.ProtocolError) as error:
        tell("ended %s" % error)


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)
context.set_alpn_protocols(["h2"])
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
tell("port %d" % listener.getsockname()[1])
while True:
    accepted, _ = listener.accept()
    threading.Thread(target=serve, args=(accepted, context), daemon=True).start()
