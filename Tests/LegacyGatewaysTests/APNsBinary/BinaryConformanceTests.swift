import Foundation
import GatewaySimulator
import GatewayTestSupport
import Gateways
import PushCore
import Testing

@testable import LegacyGateways

/// The gateway against an independent server: a parser of the format in Python, and OpenSSL's TLS.
@Suite("The binary protocol against a server in Python", .timeLimit(.minutes(2)))
struct BinaryConformanceTests {
    /// Reads frames of command 2 with struct, prints each as a JSON line, and refuses every n-th with an error packet.
    private static let script = #"""
        import json, socket, ssl, struct, sys
        folder, every, status = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder + '/server.pem', folder + '/server-key.pem')
        context.load_verify_locations(folder + '/ca.pem')
        context.verify_mode = ssl.CERT_REQUIRED
        listener = socket.create_server(('127.0.0.1', 0))
        print('port', listener.getsockname()[1], flush=True)
        def exactly(stream, count):
            data = b''
            while len(data) < count:
                piece = stream.recv(count - len(data))
                if not piece: raise EOFError
                data += piece
            return data
        seen = 0
        while True:
            plain, _ = listener.accept()
            stream = plain
            try:
                stream = context.wrap_socket(plain, server_side=True)
                while True:
                    command, length = struct.unpack('!BI', exactly(stream, 5))
                    body = exactly(stream, length)
                    items, place = {}, 0
                    while place < length:
                        kind, size = struct.unpack('!BH', body[place:place + 3])
                        assert kind not in items
                        items[kind] = body[place + 3:place + 3 + size]
                        assert len(items[kind]) == size
                        place += 3 + size
                    assert command == 2 and place == length
                    payload = json.loads(items[2])
                    number = struct.unpack('!I', items[3])[0]
                    seen += 1
                    refused = every > 0 and seen % every == 0
                    print('frame', json.dumps({'id': payload['_mId'], 'token': items[1].hex(), 'number': number,
                        'expiration': struct.unpack('!I', items[4])[0] if 4 in items else None,
                        'priority': items[5][0] if 5 in items else None, 'refused': refused}), flush=True)
                    if refused:
                        stream.sendall(struct.pack('!BBI', 8, status, number))
                        stream.shutdown(socket.SHUT_WR)
                        while stream.recv(65536): pass
                        break
            except (EOFError, OSError): pass
            finally: stream.close()
        """#

    private struct Frame: Decodable {
        var id: String
        var token: String
        var number: UInt32
        var expiration: UInt32?
        var priority: UInt8?
        var refused: Bool
    }

    @Test("Every frame is read as intended, and error packets are understood", arguments: [0, 37])
    func frames(_ every: Int) async throws {
        try await Fixture.run { fixture in
            let server = try PythonProcess(Self.script, [fixture.folder, String(every), "7"])
            defer { server.terminate() }
            let number = Int(try await server.line("port"))
            let gateway = try await fixture.binaryGateway(port: number, presumedAcceptedMilliseconds: 3_000)
            let batch = fixture.binaryBatch(count: 500)
            let before = UInt32(Date().timeIntervalSince1970)
            let (outcomes, doubts) = await fixture.collector.deliver(batch, through: gateway)
            await gateway.shutdown()
            #expect(outcomes.count == 500 && doubts == 0)
            let lines = try await server.lines("frame", count: 500)
            let frames = try lines.map { try JSONDecoder().decode(Frame.self, from: Data($0.utf8)) }
            let taken = frames.filter { !$0.refused }
            #expect(outcomes.count { $0.outcomeClass == .accepted } == taken.count)
            #expect(outcomes.count { $0.reason == "InvalidPayloadSize" } == frames.count - taken.count)
            #expect(frames.count == 500 && Set(frames.map(\.id)).count == 500, "each message once")
            if every > 0 { #expect(frames.count { $0.refused } == 500 / every) }
            let rows = Dictionary(uniqueKeysWithValues: batch.messageIDs.enumerated().map { ($1.description, $0) })
            for frame in frames {
                let row = try #require(rows[frame.id])
                #expect(frame.token == batch.tokens.string(row) && frame.priority == 10 && frame.number >= 1)
                #expect((before...before + 3_700).contains(try #require(frame.expiration)))
            }
        }
    }

    @Test("The simulator accepts what a client in Python sends, and answers it")
    func simulator() async throws {
        try await Fixture.run { fixture in
            try OpenSSL.run([
                "pkcs12", "-legacy", "-in", fixture.simulator.credentials.apnsCertificateFile, "-nodes", "-passin",
                "pass:" + fixture.simulator.credentials.apnsCertificatePassphrase, "-out",
                fixture.folder + "/client.pem",
            ])
            let client = try PythonProcess(
                Self.client,
                [fixture.folder, String(fixture.simulator.apnsBinaryPort), String(fixture.simulator.apnsFeedbackPort)]
            )
            defer { client.terminate() }
            fixture.simulator.setDevice(String(repeating: "0e", count: 32), to: .badDeviceToken)
            fixture.simulator.addFeedback(["00ff"], sinceMilliseconds: 5_000, topic: Fixture.topic)
            #expect(try await client.line("simple") == "silence")
            #expect(try await client.line("enhanced") == "silence")
            #expect(try await client.line("frame") == "silence")
            #expect(try await client.line("token") == "8 8 4660")
            #expect(try await client.line("payload") == "8 7 9")
            #expect(try await client.line("feedback") == "5 00ff")
            #expect(fixture.simulator.counters().apnsBinary.accepted == 4)
        }
    }

    private static let client = #"""
        import socket, ssl, struct, sys
        folder, port, feedback = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
        context = ssl.create_default_context(cafile=folder + '/ca.pem')
        context.load_cert_chain(folder + '/client.pem')
        def connect(port): return context.wrap_socket(socket.create_connection(('127.0.0.1', port)), server_hostname='127.0.0.1')
        def item(kind, data): return struct.pack('!BH', kind, len(data)) + data
        def frame(*items): return struct.pack('!BI', 2, sum(map(len, items))) + b''.join(items)
        token, payload = bytes(range(32)), b'{"aps":{"alert":"a"}}'
        def heard(stream):
            stream.settimeout(0.5)
            try: answer = stream.recv(100)
            except (TimeoutError, socket.timeout): return 'silence'
            return ' '.join(map(str, struct.unpack('!BBI', answer)))
        def say(name, *pieces):
            stream = connect(port)
            for piece in pieces: stream.sendall(piece)
            print(name, heard(stream), flush=True)
        say('simple', struct.pack('!BH', 0, 32) + token + struct.pack('!H', len(payload)) + payload)
        say('enhanced', struct.pack('!BIIH', 1, 5, 0, 32) + token, struct.pack('!H', len(payload)) + payload)
        say('frame', frame(item(1, token), item(2, payload), item(3, b'\0\0\0\7'), item(5, b'\5'))[:20],
            frame(item(1, token), item(2, payload), item(3, b'\0\0\0\7'), item(5, b'\5'))[20:])
        good = frame(item(1, token), item(2, b'{"aps":{"badge":1}}'), item(3, b'\0\0\0\1'))
        say('token', good + frame(item(3, b'\0\0\x12\x34'), item(2, payload), item(1, b'\x0e' * 32)) + good)
        say('payload', frame(item(3, b'\0\0\0\x09'), item(1, token), item(2, b'{"aps":"' + b'x' * 2048 + b'"}')))
        stream, data = connect(feedback), b''
        while True:
            piece = stream.recv(100)
            if not piece: break
            data += piece
        time, size = struct.unpack('!IH', data[:6])
        print('feedback', time, data[6:6 + size].hex(), flush=True)
        """#
}
