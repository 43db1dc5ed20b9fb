import CNGHTTP2
import NIOCore
import Testing

@testable import HTTP2

/// The client's header blocks, decoded by nghttp2.
@Suite struct HeaderEncoderTests {
    @Test func whatLastsIsSentOnceAndOnlyNamesOfWhatChanges() throws {
        var encoder = HeaderEncoder()
        let reader = HeaderReader()
        let token = "bearer " + String(repeating: "abcdef01", count: 25)
        let batch = Self.batch(3, shared: [("authorization", token, .value), ("apns-expiration", "1900000000", .name)])
        var sizes: [Int] = []
        for index in 0..<3 {
            let frames = Self.frames(&encoder, batch, Int32(index))
            #expect(frames.map(\.type) == [1])
            #expect(try reader.read(frames) == Self.expected(batch, Int32(index)))
            sizes.append(frames[0].payload.count)
        }
        #expect(sizes[0] > token.utf8.count)
        // Pseudo-header fields, path, token; for the expiration two bytes of name, a length and the value; the same for
        // the id.
        let path = 2 + "/3/device/0".utf8.count
        #expect(sizes[1] == 3 + path + 1 + 3 + 10 + 3 + "id-0".utf8.count)
        #expect(sizes[2] == sizes[1])
    }

    /// Changing values, tables that shrink, grow and disappear, fields too large for any table and blocks too large for
    /// any frame.
    @Test func nghttp2ReadsWhateverIsWritten() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            var encoder = HeaderEncoder()
            let reader = HeaderReader()
            let batches = (0..<4).map { _ in Self.randomBatch(&random) }
            for _ in 0..<60 {
                if Int.random(in: 0..<8, using: &random) == 0 {
                    for _ in 0...Int.random(in: 0...2, using: &random) {
                        let bytes = [0, 32, 60, 200, 1_000, 4_096, 65_536].randomElement(using: &random) ?? 0
                        reader.limit(bytes)
                        encoder.limitTable(bytes)
                    }
                }
                let batch = batches[Int.random(in: 0..<4, using: &random)]
                let index = Int32.random(in: 0..<Int32(batch.count), using: &random)
                let frames = Self.frames(&encoder, batch, index)
                #expect(try reader.read(frames) == Self.expected(batch, index), "seed \(seed)")
                #expect(frames[0].type == 1 && frames.dropFirst().allSatisfy { $0.type == 9 }, "seed \(seed)")
                #expect(frames[0].flags & 1 == 1 && frames.dropFirst().allSatisfy { $0.flags & 1 == 0 }, "seed \(seed)")
                let last = frames.indices.filter { frames[$0].flags & 4 == 4 }
                #expect(last == [frames.count - 1], "seed \(seed)")
                #expect(frames.allSatisfy { $0.payload.count <= 16_384 && $0.streamID == 7 }, "seed \(seed)")
            }
        }
    }

    /// Equal batches share a template until something changes; those that differ in anything have their own.
    @Test func batchesThatAreAlikeAreWrittenAlike() throws {
        var encoder = HeaderEncoder()
        let reader = HeaderReader()
        func write(_ batch: HTTP2RequestBatch) throws -> Int {
            let frames = Self.frames(&encoder, batch, 0)
            #expect(try reader.read(frames) == Self.expected(batch, 0))
            return frames.flatMap(\.payload).count
        }
        let token: (String, String, HTTP2HeaderField.Indexing) = ("authorization", "bearer of a token", .value)
        func alike() -> HTTP2RequestBatch { Self.batch(1, shared: [token, ("apns-topic", "caf\u{E9}", .value)]) }
        let first = try write(alike())
        let small = try write(alike())
        #expect(try write(alike()) == small && small < first)
        // The same letters in another Unicode form are different bytes, and an equal field may be one of which only the
        // name is indexed.
        _ = try write(Self.batch(1, shared: [token, ("apns-topic", "cafe\u{301}", .value)]))
        #expect(try write(Self.batch(1, shared: [token, ("apns-topic", "caf\u{E9}", .name)])) > small)
        let others = HTTP2RequestBatch(
            sharedHeaders: alike().sharedHeaders,
            perRequestHeaderNames: ["apns-id", "apns-collapse-id"],
            capacity: 1,
            bodyBytes: 0
        )
        others.append(path: Array("/".utf8), headerValues: [Array("id".utf8), Array("collapse".utf8)], body: [])
        _ = try write(others)
        #expect(try write(alike()) == small)
        reader.limit(0)
        encoder.limitTable(0)
        #expect(try write(alike()) > small)
    }

    @Test func aServersTableIsKeptToBeforeTheNextRequest() throws {
        var encoder = HeaderEncoder()
        let reader = HeaderReader()
        let batch = Self.batch(2, shared: [("authorization", "bearer t", .value)])
        #expect(try reader.read(Self.frames(&encoder, batch, 0)) == Self.expected(batch, 0))
        for bytes in [0, 64, 4_096] { encoder.limitTable(bytes) }
        let frames = Self.frames(&encoder, batch, 1)
        // The smallest bound and the last (RFC 7541, section 4.2): 0, then 4,096 as 31 + 97 + 31 * 128.
        #expect(frames[0].payload.prefix(4) == [0x20, 0x3f, 0xe1, 0x1f])
        #expect(try reader.read(frames) == Self.expected(batch, 1))
    }

    /// As with FCM, where the body has everything specific to the message.
    @Test func aPathThatAllHaveIsSentOnce() throws {
        var encoder = HeaderEncoder()
        let reader = HeaderReader()
        let batch = HTTP2RequestBatch(
            sharedHeaders: [
                HTTP2HeaderField(":method", "POST"), HTTP2HeaderField(":path", "/v1/projects/p/messages:send"),
            ],
            perRequestHeaderNames: [],
            capacity: 2,
            bodyBytes: 0
        )
        for text in ["one", "another"] { batch.append(body: Array(text.utf8)[...]) }
        for index in 0..<Int32(2) {
            let frames = Self.frames(&encoder, batch, index)
            #expect(try reader.read(frames) == [":method: POST", ":path: /v1/projects/p/messages:send"])
            #expect(batch.headerFields(index).map(\.value) == ["POST", "/v1/projects/p/messages:send"])
            #expect(frames[0].payload.count == (index == 0 ? 1 + 2 + 28 : 2))
        }
        #expect(String(decoding: batch.body(1), as: UTF8.self) == "another")
    }

    /// RFC 7541, section 5.1 and appendix C.1.
    @Test(arguments: zip([10, 31, 1_337], [[0x0a], [0x1f, 0x00], [0x1f, 0x9a, 0x0a]]))
    func integersAreThoseOfTheStandard(_ integer: Int, _ bytes: [UInt8]) {
        var block: [UInt8] = []
        HeaderBlockWriter.append(integer, prefix: 5, mark: 0, to: &block)
        #expect(block == bytes)
    }
}

extension HeaderEncoderTests {
    private static func batch(
        _ count: Int,
        shared: [(String, String, HTTP2HeaderField.Indexing)]
    ) -> HTTP2RequestBatch {
        let batch = HTTP2RequestBatch(
            sharedHeaders: [
                HTTP2HeaderField(":method", "POST"), HTTP2HeaderField(":scheme", "https"),
                HTTP2HeaderField(":authority", "localhost"),
            ] + shared.map { HTTP2HeaderField($0.0, $0.1, indexing: $0.2) },
            perRequestHeaderNames: ["apns-id"],
            capacity: count,
            bodyBytes: 0
        )
        for index in 0..<count {
            batch.append(path: Array("/3/device/\(index)".utf8), headerValues: [Array("id-\(index)".utf8)], body: [])
        }
        return batch
    }

    private static func randomBatch(_ random: inout SeededGenerator) -> HTTP2RequestBatch {
        func text(_ length: ClosedRange<Int>) -> String {
            let letters = Int.random(in: length, using: &random)
            return String((0..<letters).map { _ in "abcdefghij0123456789-".randomElement(using: &random) ?? "a" })
        }
        let lengths = [0...20, 0...20, 100...140, 200...2_000, 3_000...40_000]
        func value() -> String { text(lengths.randomElement(using: &random) ?? 0...20) }
        let names = [
            "authorization", "content-type", "apns-topic", "apns-priority", "x-\(text(0...3))", text(127...200),
        ]
        let batch = HTTP2RequestBatch(
            sharedHeaders: [HTTP2HeaderField(":method", "POST"), HTTP2HeaderField(":authority", text(1...30))]
                + names.shuffled(using: &random).prefix(4).map {
                    HTTP2HeaderField($0, value(), indexing: Bool.random(using: &random) ? .value : .name)
                },
            perRequestHeaderNames: Array(
                ["apns-id", "apns-collapse-id"].prefix(Int.random(in: 0...2, using: &random))
            ),
            capacity: 1,
            bodyBytes: 0
        )
        for _ in 0..<4 {
            let values = batch.perRequestHeaderNames.map { _ in Array(value().utf8) }
            batch.append(path: Array("/\(text(0...300))".utf8), headerValues: values, body: [])
        }
        return batch
    }

    private static func expected(_ batch: HTTP2RequestBatch, _ index: Int32) -> [String] {
        batch.headerFields(index).map { "\($0.name): \($0.value)" }
    }

    private static func frames(_ encoder: inout HeaderEncoder, _ batch: HTTP2RequestBatch, _ index: Int32) -> [Frame] {
        // Existing bytes in the buffer are unchanged.
        var buffer = ByteBuffer(string: "before")
        encoder.append(batch, index, flags: 1, streamID: 7, to: &buffer)
        #expect(buffer.readString(length: 6) == "before")
        var frames: [Frame] = []
        while let head = buffer.readInteger(as: UInt32.self), let flags = buffer.readInteger(as: UInt8.self),
            let streamID = buffer.readInteger(as: UInt32.self), let payload = buffer.readBytes(length: Int(head >> 8))
        {
            frames.append(
                Frame(type: UInt8(truncatingIfNeeded: head), flags: flags, streamID: streamID, payload: payload)
            )
        }
        #expect(buffer.readableBytes == 0)
        return frames
    }

    private struct Frame {
        var type: UInt8
        var flags: UInt8
        var streamID: UInt32
        var payload: [UInt8]
    }

    /// nghttp2's decoder with its own table.
    private final class HeaderReader {
        private var inflater: OpaquePointer?

        init() {
            nghttp2_hd_inflate_new(&inflater)
        }

        deinit {
            nghttp2_hd_inflate_del(inflater)
        }

        /// The server's SETTINGS.
        func limit(_ bytes: Int) {
            #expect(nghttp2_hd_inflate_change_table_size(inflater, bytes) == 0)
        }

        func read(_ frames: [Frame]) throws -> [String] {
            var block = frames.flatMap(\.payload)
            var fields: [String] = []
            while true {
                var field = nghttp2_nv()
                var flags: Int32 = 0
                let count = block.count
                let read = nghttp2_hd_inflate_hd2(inflater, &field, &flags, block, count, 1)
                try #require(read >= 0, "nghttp2 does not read it: \(String(cString: nghttp2_strerror(Int32(read))))")
                block.removeFirst(read)
                if UInt32(flags) & NGHTTP2_HD_INFLATE_EMIT.rawValue != 0 {
                    let name = String(
                        decoding: UnsafeBufferPointer(start: field.name, count: field.namelen),
                        as: UTF8.self
                    )
                    let value = String(
                        decoding: UnsafeBufferPointer(start: field.value, count: field.valuelen),
                        as: UTF8.self
                    )
                    fields.append("\(name): \(value)")
                }
                if UInt32(flags) & NGHTTP2_HD_INFLATE_FINAL.rawValue != 0 {
                    nghttp2_hd_inflate_end_headers(inflater)
                    return fields
                }
            }
        }
    }
}
