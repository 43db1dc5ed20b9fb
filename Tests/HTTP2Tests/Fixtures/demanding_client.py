"""An HTTP/2 client, made with h2, that sends requests in every way that the protocol allows.

usage: demanding_client.py MODE PORT CERTIFICATE

The server must answer even request numbers with 200 and no body, and odd ones with 400 and the request's body; the number
is at the end of the path. Prints "ok N" with the number of correct answers, or what went wrong.
"""
import socket
import ssl
import sys

import h2.config
import h2.connection
import h2.events
import h2.settings
import hyperframe.frame as frames

MODE, PORT, CERTIFICATE = sys.argv[1], int(sys.argv[2]), sys.argv[3]

context = ssl.create_default_context(cafile=CERTIFICATE)
context.set_alpn_protocols(["h2"])
raw = socket.create_connection(("127.0.0.1", PORT), timeout=120)
raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
sock = context.wrap_socket(raw, server_hostname="localhost")
assert sock.selected_alpn_protocol() == "h2", "ALPN"

connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
if MODE == "smallwindow":
    connection.local_settings = h2.settings.Settings(
        client=True, initial_values={h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 5})
connection.initiate_connection()
answers, bodies, resets, pings = {}, {}, {}, []
ended, goaway = set(), []


def write(data):
    step = 1 if MODE == "slow" else len(data) or 1
    for position in range(0, len(data), step):
        sock.sendall(data[position:position + step])


def flush():
    data = connection.data_to_send()
    if MODE != "continuation":
        return write(data)
    view = memoryview(data)
    if bytes(view[:3]) == b"PRI":
        write(bytes(view[:24]))
        view = view[24:]
    while len(view):
        frame, length = frames.Frame.parse_frame_header(view[:9])
        frame.parse_body(view[9:9 + length])
        view = view[9 + length:]
        if isinstance(frame, frames.HeadersFrame):
            block, frame.data = frame.data, b""
            frame.flags.discard("END_HEADERS")
            last = frames.ContinuationFrame(frame.stream_id)
            last.data = block
            last.flags.add("END_HEADERS")
            write(frame.serialize() + last.serialize())
        else:
            write(frame.serialize())


def read():
    data = sock.recv(65536)
    if not data:
        raise SystemExit("the server hung up")
    for event in connection.receive_data(data):
        if isinstance(event, h2.events.ResponseReceived):
            answers[event.stream_id] = dict(event.headers)
        elif isinstance(event, h2.events.DataReceived):
            bodies[event.stream_id] = bodies.get(event.stream_id, b"") + event.data
            connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            ended.add(event.stream_id)
        elif isinstance(event, h2.events.StreamReset):
            resets[event.stream_id] = event.error_code
        elif isinstance(event, h2.events.PingAckReceived):
            pings.append(event.ping_data)
        elif isinstance(event, h2.events.ConnectionTerminated):
            goaway.append(event)
    flush()


def request(number, body):
    stream = connection.get_next_available_stream_id()
    connection.send_headers(stream, [
        (":method", "POST"), (":scheme", "https"), (":authority", "localhost"), (":path", "/3/device/%d" % number),
        ("apns-topic", "com.example.app"), ("x-long", "z" * (number % 700))])
    while body:
        room = min(connection.local_flow_control_window(stream), connection.max_outbound_frame_size - 201, 3000)
        if room <= 200:
            flush()
            read()
            continue
        piece, body = body[:room - 200], body[room - 200:]
        if MODE == "padding":
            connection.send_data(stream, piece, pad_length=150)
        else:
            connection.send_data(stream, piece)
    if MODE == "trailers":
        connection.send_headers(stream, [("x-trailer", "1")], end_stream=True)
    else:
        connection.end_stream(stream)
    return stream


flush()
while connection.remote_settings.max_concurrent_streams > 1000:
    read()
limit = connection.remote_settings.max_concurrent_streams
count = 300 if MODE != "slow" else 40
expected, next_number = {}, 0
while next_number < count or len(ended | set(resets)) < len(expected):
    while next_number < count and len(expected) - len(ended | set(resets)) < min(limit, 40):
        body = (b"body %d " % next_number) * (next_number % 50 + 1)
        if MODE == "large" and next_number % 10 == 1:
            body = body * 400
        stream = request(next_number, body)
        expected[stream] = (next_number, body)
        if MODE == "cancel" and next_number % 4 == 0:
            connection.reset_stream(stream, 8)
            resets[stream] = 8
        if MODE == "ping":
            connection.ping(b"%08d" % next_number)
        next_number += 1
    flush()
    if len(ended | set(resets)) < len(expected):
        read()
while MODE == "ping" and len(pings) < count:
    read()

right = 0
for stream, (number, body) in expected.items():
    if stream in resets and MODE == "cancel":
        right += 1
        continue
    answer = answers.get(stream)
    wanted = ("400", body[:16384]) if number % 2 else ("200", b"")
    if answer and (answer[":status"], bodies.get(stream, b"")) == wanted:
        right += 1
    else:
        print("wrong", number, answer, len(bodies.get(stream, b"")), resets.get(stream))
print("ok %d of %d" % (right, count), flush=True)
connection.close_connection()
flush()
sock.close()
