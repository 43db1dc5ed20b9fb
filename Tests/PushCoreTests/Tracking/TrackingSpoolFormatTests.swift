import Foundation
import TestSupport
import Testing

@testable import PushCore

@Suite struct TrackingSpoolFormatTests {
    private func hit(_ random: inout TestRandom) -> TrackingHit {
        let message: TrackedMessageID =
            random.oneIn(2)
            ? .uuid(MessageUUID(high: random.next(), low: random.next())) : .number(Int64(bitPattern: random.next()))
        return TrackingHit(
            id: TrackingID(
                message: message,
                deliveries: (0..<random.below(3)).map { _ in Int64(bitPattern: random.next()) },
                kind: random.oneIn(2) ? .received : .clicked
            ),
            microseconds: Int64(bitPattern: random.next()),
            address: random.oneIn(3) ? nil : IPAddress(high: random.next(), low: random.next()),
            userAgent: String(repeating: "é", count: random.below(200))
        )
    }

    @Test func recordsComeBackWhereverTheFileIsCut() {
        var random = TestRandom(seed: TestRandom.seed(for: "recordsComeBackWhereverTheFileIsCut"))
        for _ in 0..<200 {
            let records = (0..<random.below(6)).map { position in
                TrackingSpoolRecord(
                    position: Int64(position),
                    hits: (0..<random.below(5)).map { _ in hit(&random) }
                )
            }
            let bytes = records.flatMap(\.bytes)
            let cut = random.below(bytes.count + 1)
            var decoder = TrackingSpoolDecoder(Array(bytes[..<cut]))
            var read: [TrackingSpoolRecord] = []
            var missing = -1
            while missing < 0 {
                switch decoder.next() {
                case .record(let record): read.append(record)
                case .end(let count): missing = count
                case .damaged:
                    Issue.record("a cut is no damage")
                    return
                }
            }
            #expect(read == Array(records.prefix(read.count)))
            #expect(decoder.offset == records.prefix(read.count).reduce(0) { $0 + $1.bytes.count })
            #expect((missing == 0) == (decoder.offset == cut))
            if read.count < records.count {
                #expect(cut < records.prefix(read.count + 1).reduce(0) { $0 + $1.bytes.count })
            }
        }
    }

    /// Version 1 was that of development versions.
    @Test(arguments: [UInt8(1), 2, 3]) func onlyItsOwnVersionIsRead(version: UInt8) {
        let header = TrackingSpoolHeader(source: UUID(), created: 5)
        var bytes = header.bytes
        bytes[4] = version
        let checked = TrackingSpoolHeader.length - 4
        let checksum = CRC32C.checksum(bytes, 0..<checked)
        for index in 0..<4 { bytes[checked + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(index * 8)) }
        #expect(TrackingSpoolHeader(bytes) == (version == 2 ? header : nil))
    }

    /// No flipped bit makes another record: it makes an end.
    @Test func aFlippedBitIsNoticed() {
        var random = TestRandom(seed: TestRandom.seed(for: "aFlippedBitIsNoticed"))
        let record = TrackingSpoolRecord(position: 7, hits: [hit(&random), hit(&random)])
        let whole = record.bytes
        for index in 0..<whole.count * 8 {
            var bytes = whole
            bytes[index / 8] ^= 1 << UInt8(index % 8)
            var decoder = TrackingSpoolDecoder(bytes)
            if case .record(let other) = decoder.next() { Issue.record("bit \(index) made \(other)") }
        }
    }

    @Test func headersComeBackAndOthersAreRefused() {
        let header = TrackingSpoolHeader(source: UUID(), created: 1_234_567)
        #expect(header.bytes.count == TrackingSpoolHeader.length)
        #expect(TrackingSpoolHeader(header.bytes + [1, 2, 3]) == header)
        for index in header.bytes.indices {
            var bytes = header.bytes
            bytes[index] ^= 0x10
            #expect(TrackingSpoolHeader(bytes) == nil)
            #expect(TrackingSpoolHeader(Array(header.bytes[..<index])) == nil)
        }
    }

    @Test func platformsAreReadFromUserAgents() {
        func platform(_ agent: String) -> Platform? {
            TrackingHit(
                id: TrackingID(message: .number(1), deliveries: [], kind: .received),
                microseconds: 0,
                address: nil,
                userAgent: agent
            ).platform
        }
        #expect(platform("Mozilla/5.0 (iPhone; CPU OS 14_5 like Mac OS X; en-US)") == .ios)
        #expect(platform("Mozilla/5.0 (Linux; U; Android 14; en-US; Pixel Build/X)") == .android)
        #expect(platform("MyApp/1 CFNetwork/1410 Darwin/22.6.0") == .ios)
        #expect(platform("curl/8") == nil)
    }
}
