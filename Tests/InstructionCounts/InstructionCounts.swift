import Foundation
import Gateways
import NIOCore

@testable import HTTP2
@testable import MTAChild
@testable import PostgresClient
@testable import PushCore
@testable import Store

/// Work of a fixed size on what each message costs, to be counted by valgrind (`Deploy/test instructions`); no part of the product.
///
/// `InstructionCounts PART MESSAGES`. What it does is the same in each run, but for what the start of a process costs: whoever compares takes
/// the difference between two numbers of messages.
@main
enum InstructionCounts {
    /// What is counted by itself.
    enum Part: String, CaseIterable {
        /// Payloads of a part's messages, with two fields.
        case render
        /// Requests and answers of APNs as HTTP/2 frames with their HPACK, both ends.
        case headers
        /// A child's intents and answers, written and read.
        case journal
        /// Outcomes as PostgreSQL's client sends them, inserted and copied.
        case outcomes
    }

    /// Messages of a part, as preparation makes them.
    private static let partSize = 1_000

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let part = arguments.first.flatMap(Part.init),
            let count = arguments.dropFirst().first.flatMap({ Int($0) })
        else {
            FileHandle.standardError.write(
                Data("usage: InstructionCounts render|headers|journal|outcomes MESSAGES\n".utf8)
            )
            exit(64)
        }
        for first in stride(from: 0, to: count, by: partSize) {
            let messages = first..<min(first + partSize, count)
            switch part {
            case .render: try render(messages)
            case .headers: try headers(messages)
            case .journal: try journal(messages)
            case .outcomes: try outcomes(messages)
            }
        }
    }
}

extension InstructionCounts {
    private static let delivery = Result { try compiledDelivery() }

    private static func compiledDelivery() throws -> CompiledDelivery {
        let delivery = SendingDelivery(
            id: 16,
            label: "Autumn sale",
            content: #"{"ios":{"title":"Hello {{firstName|there}}","body":"The sale begins in {{city}}."}}"#,
            state: .inProgress,
            trackingKey: Array(0..<16),
            messageIDBase: nil,
            validUntil: nil,
            ambiguityPolicy: .resend,
            maxRetries: 3,
            logDay: LogDay(daysSince2000: 9_800),
            hasVariables: false,
            retrySchedule: .byKind
        )
        let application = ApplicationRow(
            id: 1,
            serviceID: 1,
            name: "app",
            label: "",
            platform: .ios,
            environment: .production,
            integrationKey: "k",
            bundleID: "com.example.app",
            messageIDFormat: .uuid,
            accountID: 1,
            credentialID: 1,
            variables: "[]"
        )
        return try CompiledDelivery(delivery, application: application, format: .apns)
    }

    // Made once, so that what is counted is not the making of samples.
    private static let tokens = (0..<partSize).map { message in
        let digits = String(message, radix: 16)
        return Array((String(repeating: "5a", count: 32).dropLast(digits.count) + digits).utf8)
    }
    private static let names = (0..<partSize).map { Array("Name \($0)".utf8) }
    private static let gatewayIDs = (0..<partSize).map { "0:1414745\($0)" }

    private static func token(_ message: Int) -> [UInt8] { tokens[message % partSize] }

    private static func loaded(_ messages: Range<Int>, fields: Int) -> LoadedPart {
        var part = LoadedPart()
        var columns = [ByteColumn](repeating: ByteColumn(), count: fields)
        for message in messages {
            part.sequences.append(Int32(message + 1))
            part.subscriptionIDs.append(Int64(message + 100))
            part.tokens.append(token(message))
            part.decisions.append(.sendable)
            for column in columns.indices { columns[column].append(names[message % partSize]) }
        }
        part.fields = columns
        return part
    }

    static func render(_ messages: Range<Int>) throws {
        let delivery = try delivery.get()
        var renderer = SliceRenderer(delivery: delivery, loaded: loaded(messages, fields: 2))
        let rendered = renderer.render(Array(0..<Int32(messages.count))[...], newBatchID: { 1 })
        let count = rendered.batches.reduce(0) { $0 + $1.batch.count }
        precondition(count == messages.count, "not everything was rendered")
    }

    static func headers(_ messages: Range<Int>) throws {
        let client = try ClientSession()
        let server = try ServerSession(settings: HTTP2ServerSettings())
        let body = [UInt8](repeating: 0x20, count: 149)
        let batch = HTTP2RequestBatch(
            sharedHeaders: [
                HTTP2HeaderField(":method", "POST"), HTTP2HeaderField(":scheme", "https"),
                HTTP2HeaderField(":authority", "api.push.apple.com"),
                HTTP2HeaderField("authorization", "bearer " + String(repeating: "x", count: 200)),
                HTTP2HeaderField("apns-topic", "com.example.app"), HTTP2HeaderField("apns-push-type", "alert"),
                HTTP2HeaderField("apns-priority", "10"),
            ],
            perRequestHeaderNames: ["apns-id"],
            capacity: messages.count,
            bodies: body
        )
        for message in messages {
            batch.append(
                pathPrefix: "/3/device/",
                pathSuffix: token(message)[...],
                headerValue: token(message)[..<36],
                bodyIn: body.indices
            )
        }
        for index in 0..<batch.count { precondition(client.submit(batch, index: Int32(index)), "no stream") }
        let answer = HTTP2PreparedResponse(status: 200, headers: [], varyingHeader: "apns-id")
        repeat {
            try carry(client.serialise, server.receive)
            for request in server.requests {
                let id = request.headers.valueBytes("apns-id") ?? []
                server.respond(request.streamID, answer, varyingValue: id, body: [])
            }
            server.requests.removeAll()
        } while try carry(server.serialise, client.receive)
        precondition(client.completions.count == messages.count, "not everything was answered")
    }

    /// Carries what one end has to say to the other.
    /// - Returns: whether it had anything to say.
    @discardableResult
    private static func carry(
        _ serialise: (inout ByteBuffer, Int) -> Bool,
        _ receive: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        var buffer = ByteBuffer()
        while serialise(&buffer, 1 << 20) {}
        try buffer.withUnsafeReadableBytes(receive)
        return buffer.readableBytes > 0
    }

    static func journal(_ messages: Range<Int>) throws {
        var bytes: [UInt8] = []
        JournalEncoder.append(JournalHeader(childID: 1, generation: 1, hostID: UUID()), to: &bytes)
        // Intents and answers as they come of one read each.
        for first in stride(from: messages.lowerBound, to: messages.upperBound, by: 50) {
            let sequences = Int32(first)...Int32(min(first + 50, messages.upperBound) - 1)
            JournalEncoder.appendIntent(part: 1, token: 1, ranges: [sequences], to: &bytes)
            let answers = sequences.map { JournalAnswer(sequence: $0, outcomeClass: .accepted, status: 200) }
            JournalEncoder.appendAnswers(part: 1, token: 1, timeMilliseconds: 0, answers, to: &bytes)
        }
        var decoder = try JournalDecoder(bytes)
        while decoder.next() != nil {}
        precondition(decoder.validLength == bytes.count, "the journal was not read to its end")
    }

    static func outcomes(_ messages: Range<Int>) throws {
        let encoder = ParameterEncoder()
        // APNs' have no id and are inserted, FCM's have one and are copied.
        for isCopied in [false, true] {
            var batch = OutcomeBatch(capacity: messages.count)
            for message in messages {
                batch.append(
                    part: 7,
                    token: 1,
                    sequence: Int32(message),
                    subscriptionID: Int64(message),
                    status: .sent,
                    httpStatus: 200,
                    gatewayMessageID: isCopied ? gatewayIDs[message % partSize] : nil
                )
            }
            precondition(batch.count == messages.count, "not every outcome was taken")
            guard isCopied else {
                for run in batch.runs { encoder.encode(BroadLogInsert.run(run).parameters) }
                continue
            }
            let held = [PartToken(part: 7, token: 1): PartPlacement(delivery: 16, logDay: 9_800)]
            let copied = try BroadLogCopy.rows(batch, held: held).count
            precondition(copied == messages.count, "not every outcome was copied")
        }
    }
}
