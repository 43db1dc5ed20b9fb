import Foundation
import Gateways
import PushCore
import Synchronization

@testable import MTAChild
@testable import Store

/// Makes prepared parts for dispatch tests.
enum DispatchFixture {
    /// The records in the bytes of a journal without its header.
    static func records(_ bytes: [UInt8]) throws -> [JournalRecord] {
        var journal: [UInt8] = []
        JournalEncoder.append(JournalHeader(childID: 1, generation: 1, hostID: UUID()), to: &journal)
        var decoder = try JournalDecoder(journal + bytes)
        var records: [JournalRecord] = []
        while let record = decoder.next() { records.append(record) }
        return records
    }

    static let start: Int64 = 1_800_000_000_000

    static func delivery(
        id: Int64 = 16,
        policy: AmbiguityPolicy = .resend,
        maxRetries: Int16 = 3,
        schedule: RetryPolicy.ScheduleSetting = .byKind,
        validUntilMilliseconds: Int64? = nil
    ) throws -> CompiledDelivery {
        let delivery = SendingDelivery(
            id: id,
            label: "test",
            content: #"{"ios":{"title":"Hello {{firstName}}","body":"b"}}"#,
            state: .inProgress,
            trackingKey: Array(0..<16),
            messageIDBase: nil,
            validUntil: validUntilMilliseconds.map { DatabaseTime(microsecondsSince1970: $0 * 1_000) },
            ambiguityPolicy: policy,
            maxRetries: maxRetries,
            logDay: LogDay(daysSince2000: 9_800),
            hasVariables: false,
            retrySchedule: schedule
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

    static func claimed(
        _ id: Int64,
        size: Int,
        token: Int64 = 1,
        delivery: Int64 = 16,
        policy: AmbiguityPolicy = .resend,
        state: DeliveryState = .inProgress,
        isProbe: Bool = false,
        believesRefusals: Bool = false,
        isApplicationProven: Bool = false,
        isAlone: Bool = false,
        othersPass: Bool = false,
        priority: Int16 = 0,
        attempt: Int16 = 1,
        refusals: Int16 = 0,
        waitsFor: String? = nil,
        validUntilMilliseconds: Int64? = nil,
        closesAtMilliseconds: Int64? = nil
    ) -> ClaimedPart {
        ClaimedPart(
            id: id,
            deliveryID: delivery,
            fencingToken: token,
            size: Int32(size),
            attempt: attempt,
            refusals: refusals,
            logDay: LogDay(daysSince2000: 9_800),
            priority: priority,
            dispatchMark: 0,
            applicationID: 1,
            isDense: true,
            hasVariables: false,
            ambiguityPolicy: policy,
            deliveryState: state,
            isProbe: isProbe,
            believesRefusals: believesRefusals,
            isApplicationProven: isApplicationProven,
            isAlone: isAlone,
            othersPass: othersPass,
            waitsFor: waitsFor,
            validUntil: validUntilMilliseconds.map { DatabaseTime(microsecondsSince1970: $0 * 1_000) },
            closesAt: closesAtMilliseconds.map { DatabaseTime(microsecondsSince1970: $0 * 1_000) }
        )
    }

    /// A part of `size` messages in slices of `slice`.
    static func part(
        _ id: Int64,
        size: Int,
        slice: Int = 1_000,
        batch: Int64? = nil,
        type: PushType = .alert,
        delivery: CompiledDelivery
    ) -> PreparedPart {
        let sequences = (0..<Int32(size)).map { Int32(id) * 10_000 + $0 }
        var part = PreparedPart(
            claimed: claimed(id, size: size, delivery: delivery.id, policy: delivery.ambiguityPolicy),
            delivery: delivery,
            sequences: sequences,
            subscriptionIDs: sequences.map { Int64($0) + 1_000_000 },
            open: size
        )
        var first = 0
        while first < size {
            let rows = (first..<min(first + slice, size)).map(Int32.init)
            part.slices.append(
                .init(
                    rows: rows,
                    batch: Self.batch((batch ?? id * 100) + Int64(first / slice), rows.count, type),
                    markThrough: rows[rows.count - 1] + 1
                )
            )
            first += slice
        }
        return part
    }

    /// Tokens and bodies of this many messages; a simulated day creates them a hundred thousand times.
    private static func columns(_ count: Int) -> (tokens: ByteColumn, bodies: ByteColumn) {
        made.withLock { made in
            if let columns = made[count] { return columns }
            var tokens = ByteColumn()
            var bodies = ByteColumn()
            for index in 0..<count {
                tokens.append(Array("token\(index)".utf8))
                bodies.append(Array("{}".utf8))
            }
            made[count] = (tokens, bodies)
            return (tokens, bodies)
        }
    }

    private static let made = Mutex([Int: (tokens: ByteColumn, bodies: ByteColumn)]())

    static func batch(_ id: Int64, _ count: Int, _ type: PushType = .alert) -> GatewayRequestBatch {
        let (tokens, bodies) = columns(count)
        return GatewayRequestBatch(
            id: id,
            tokens: tokens,
            messageIDs: (0..<count).map { MessageUUID(high: UInt64(id), low: UInt64($0)) },
            bodies: bodies,
            attributes: MessageAttributes(pushType: type)
        )
    }
}
