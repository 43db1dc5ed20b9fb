import Foundation
import Testing

@testable import GatewaySimulator

/// The parser of the binary gateway.
struct BinaryParserTests {
    private func item(_ kind: UInt8, _ data: [UInt8]) -> [UInt8] {
        [kind, UInt8(data.count >> 8), UInt8(data.count & 255)] + data
    }

    private func frame(_ items: [UInt8]...) -> [UInt8] {
        let body = items.flatMap { $0 }
        return [2] + (0..<4).map { UInt8(truncatingIfNeeded: body.count >> (24 - $0 * 8)) } + body
    }

    private func read(_ bytes: [UInt8], pieces: Int = .max) -> [BinaryParser.Reading] {
        var parser = BinaryParser()
        var readings: [BinaryParser.Reading] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            parser.append(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
            while true {
                let reading = parser.next()
                if reading == .incomplete { break }
                readings.append(reading)
                if case .unreadable = reading { return readings }
            }
        }
        return readings
    }

    @Test func allThreeFormatsInPiecesOfAnySize() {
        let token = [UInt8](repeating: 7, count: 32)
        let simple: [UInt8] = [0, 0, 32] + token + [0, 2] + Array("{}".utf8)
        let enhanced: [UInt8] = [1, 0, 0, 1, 2, 0, 0, 0, 9, 0, 32] + token + [0, 2] + Array("{}".utf8)
        let whole = frame(
            item(3, [0, 0, 0, 5]),
            item(1, token),
            item(2, Array("{}".utf8)),
            item(4, [0, 0, 0, 6]),
            item(5, [5])
        )
        let expected: [BinaryParser.Reading] = [
            .notification(BinaryNotification(command: 0, token: token, payload: Array("{}".utf8))),
            .notification(
                BinaryNotification(command: 1, identifier: 258, token: token, payload: Array("{}".utf8), expiration: 9)
            ),
            .notification(
                BinaryNotification(
                    command: 2,
                    identifier: 5,
                    token: token,
                    payload: Array("{}".utf8),
                    expiration: 6,
                    priority: 5
                )
            ),
        ]
        for size in [1, 2, 3, 7, 50, 1_000] { #expect(read(simple + enhanced + whole, pieces: size) == expected) }
        #expect(read(frame()) == [.notification(BinaryNotification(command: 2))])
    }

    @Test func whatTheFormatDoesNotSayCannotBeRead() {
        let identifier = item(3, [0, 0, 0, 5])
        let cases: [([UInt8], UInt32?)] = [
            ([3, 0, 0], nil),
            ([2, 255, 255, 255, 255], nil),
            (frame(identifier, item(6, [1])), 5),
            (frame(item(6, [1]), identifier), 5),
            (frame(identifier, identifier), 5),
            (frame(item(1, [1]), item(1, [1]), identifier), 5),
            (frame(item(3, [0, 0, 5])), nil),
            (frame(identifier, item(4, [1, 2, 3])), 5),
            (frame(identifier, item(5, [7])), 5),
            (frame(identifier, item(5, [])), 5),
            (frame(identifier, [1, 0]), 5),
            (frame(identifier, [1, 0, 9, 1]), 5),
        ]
        for (bytes, identifier) in cases { #expect(read(bytes) == [.unreadable(identifier: identifier)], "\(bytes)") }
    }

    @Test func payloadsTellTheirMessageID() {
        func id(_ text: String) -> String? {
            let bytes = Array(text.utf8)
            return BinaryPayload(bytes).flatMap { $0.messageID.map { String(decoding: bytes[$0], as: UTF8.self) } }
        }
        #expect(id(#"{"aps":{"alert":"a","_mId":"no"},"_mId":"77"}"#) == "77")
        #expect(id(#"{"aps":{}}"#) == nil && BinaryPayload(Array(#"{"aps":{}}"#.utf8)) != nil)
        for text in ["", "[]", "{", #"{"a":}"#, #"{"a":1}x"#, #"{"aps":{"a"}}"#] {
            #expect(BinaryPayload(Array(text.utf8)) == nil, "\(text)")
        }
        #expect(BinaryPayload(Array(#"{"aps":{"content-available":1},"x":[1]}"#.utf8))?.isContentAvailableOnly == true)
        #expect(
            BinaryPayload(Array(#"{"aps":{"content-available":1,"badge":1}}"#.utf8))?.isContentAvailableOnly == false
        )
    }

    /// How many random inputs: 10^5, or what the environment says.
    private var cases: Int {
        ProcessInfo.processInfo.environment["PUSHMTA_FUZZ_CASES"].flatMap(Int.init) ?? 100_000
    }

    @Test func randomBytesCrashNothing() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var dice = FaultDice(seed: seed)
        let good = frame(item(1, [1, 2]), item(2, Array("{\"_mId\":\"1\"}".utf8)), item(3, [0, 0, 0, 5]))
        var seen: Set<Int> = []
        for _ in 0..<cases {
            var bytes = (0..<Int.random(in: 0...40, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) }
            // Half of them are good frames with a few bytes changed: random bytes alone get no further than the first.
            if Bool.random(using: &dice) {
                bytes = good
                for _ in 0..<Int.random(in: 1...3, using: &dice) {
                    bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...6, using: &dice)
                }
            }
            var parser = BinaryParser()
            parser.append(bytes)
            reading: for _ in 0..<50 {
                switch parser.next() {
                case .incomplete:
                    seen.insert(0)
                    break reading
                case .unreadable:
                    seen.insert(1)
                    break reading
                case .notification(let notification):
                    seen.insert(2)
                    let judgement = BinaryJudgement(notification, topics: ["a"], conditions: GatewayConditions())
                    #expect(judgement.status != .shutdown)
                }
            }
            #expect(parser.unread <= bytes.count)
        }
        #expect(seen == [0, 1, 2])
    }
}
