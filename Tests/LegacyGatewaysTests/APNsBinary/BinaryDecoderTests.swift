import Foundation
import GatewayTestSupport
import Gateways
import Testing

@testable import LegacyGateways

@Suite("Error packets and feedback tuples")
struct BinaryDecoderTests {
    @Test("An error packet in chunks of any size")
    func fragments() {
        let packet: [UInt8] = [8, 10, 0xFF, 0, 1, 2]
        for size in 1...6 {
            var decoder = BinaryErrorDecoder()
            var rest = packet[...]
            var last = BinaryErrorDecoder.Reading.incomplete
            while !rest.isEmpty {
                #expect(last == .incomplete)
                last = decoder.read(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(last == .packet(BinaryErrorPacket(status: 10, identifier: 0xFF00_0102)))
        }
        var decoder = BinaryErrorDecoder()
        #expect(decoder.read([]) == .incomplete && !decoder.isTorn)
        #expect(decoder.read([8, 1]) == .incomplete && decoder.isTorn)
        #expect(
            decoder.read([0, 0, 0, 9, 8, 8, 8]) == .packet(BinaryErrorPacket(status: 1, identifier: 9)),
            "what comes behind the packet means nothing"
        )
    }

    @Test("Anything else is nonsense, and remains so")
    func nonsense() {
        for byte in UInt8.min...UInt8.max where byte != 8 {
            var decoder = BinaryErrorDecoder()
            #expect(decoder.read([byte]) == .nonsense(byte))
            #expect(decoder.read([8, 8, 0, 0, 0, 1]) == .nonsense(byte))
        }
    }

    @Test("Feedback tuples in chunks of any size, with an incomplete one at the end")
    func tuples() throws {
        var bytes: [UInt8] = []
        for number in UInt8(0)..<50 {
            bytes += [0, 0, 1, number, 0, number + 1]
            bytes += [UInt8](repeating: number, count: Int(number) + 1)
        }
        let whole = bytes.count
        bytes += [0, 0, 0, 1, 0, 32, 1, 2, 3]
        for size in [1, 2, 3, 5, 7, 38, 100, bytes.count] {
            var decoder = FeedbackTupleDecoder()
            var entries: [APNsFeedbackEntry] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                try decoder.read(rest.prefix(size), into: &entries)
                rest = rest.dropFirst(size)
            }
            #expect(entries.count == 50)
            #expect(entries[3] == APNsFeedbackEntry(token: "03030303", since: 259))
            #expect(decoder.torn == bytes.count - whole)
        }
    }

    @Test("An empty token and one that is too long end the reading; earlier ones remain valid", arguments: [0, 101])
    func malformed(_ length: UInt8) {
        var decoder = FeedbackTupleDecoder()
        var entries: [APNsFeedbackEntry] = []
        #expect(throws: FeedbackTupleDecoder.Malformed(tokenLength: Int(length))) {
            try decoder.read([0, 0, 0, 1, 0, 1, 7, 0, 0, 0, 2, 0, length, 1], into: &entries)
        }
        #expect(entries == [APNsFeedbackEntry(token: "07", since: 1)])
    }

    /// The number of random inputs: 10^5, unless the environment sets it.
    private var cases: Int {
        ProcessInfo.processInfo.environment["PUSHMTA_FUZZ_CASES"].flatMap(Int.init) ?? 100_000
    }

    @Test("Random bytes neither crash nor leak memory")
    func fuzz() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(state: seed)
        for _ in 0..<cases {
            var packet = BinaryErrorDecoder()
            var tuples = FeedbackTupleDecoder()
            var entries: [APNsFeedbackEntry] = []
            var isGood = true
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let count = Int.random(in: 0...24, using: &random)
                var piece = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                // Mostly inputs with a sensible beginning.
                if count > 0, Bool.random(using: &random) { piece[0] = 8 }
                if count > 5, Bool.random(using: &random) { piece[4] = 0 }
                if case .packet(let found) = packet.read(piece) { #expect(found.status <= 255) }
                guard isGood else { continue }
                do { try tuples.read(piece, into: &entries) } catch { isGood = false }
                #expect(tuples.torn < 106)
            }
        }
    }
}
