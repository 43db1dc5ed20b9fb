import PostgresClient
import PushCore
import Store

/// What preparation made of a delivery with a plan: who gets a message, when, and who gets none.
package struct CampaignFacts: Sendable {
    /// A message, as preparation has placed it.
    package struct Message: Sendable, Hashable {
        package var sequence: Int32
        package var subscription: Int64
        /// The user key, which all devices of a person share.
        package var person: String
        /// Its wave, from 1; nil without waves.
        package var wave: Int16?
        /// Its cell in an experiment: 1 to 8 for the variants, 9 for the rest; nil without one.
        package var cell: Int16?
        /// The variant whose content it has; nil for the delivery's own.
        package var variant: Int16?
        /// When its local time comes in the recipient's zone, in seconds since 1970; nil without a local time.
        package var localAt: Double?

        package init(sequence: Int32, subscription: Int64, person: String) {
            self.sequence = sequence
            self.subscription = subscription
            self.person = person
        }
    }

    /// A subscription that was left out.
    package struct Exclusion: Sendable, Hashable {
        package let subscription: Int64
        package let person: String
        package let reason: String

        package init(subscription: Int64, person: String, reason: String) {
            self.subscription = subscription
            self.person = person
            self.reason = reason
        }
    }

    /// A wave, with times in seconds since 1970.
    package struct Wave: Sendable, Hashable {
        package let number: Int16
        package let openedAt: Double?
        /// When the guard let the next one begin.
        package let passedAt: Double?
        /// Seconds after the wave before.
        package let pause: Double

        package init(number: Int16, openedAt: Double?, passedAt: Double?, pause: Double) {
            self.number = number
            self.openedAt = openedAt
            self.passedAt = passedAt
            self.pause = pause
        }
    }

    /// Each message, by its number.
    package var messages: [Message] = []
    package var exclusions: [Exclusion] = []
    package var waves: [Wave] = []
    /// When it began, in seconds since 1970.
    package var startedAt = 0.0
    /// When the experiment may be decided at the earliest, in seconds since 1970; nil without one.
    package var decidesAt: Double?

    package init() {}
}

extension Store {
    /// Reads what preparation made of a delivery.
    package func campaignFacts(delivery id: Int64) async throws -> CampaignFacts {
        var facts = CampaignFacts()
        (facts.startedAt, facts.decidesAt) = try await query(Self.campaignTimesSQL, [.int64(id)]).one { row in
            (try row.double(), try row.doubleOrNil())
        }
        facts.messages = try all(try await query(Self.campaignMessagesSQL, [.int64(id)])) { row in
            var message = CampaignFacts.Message(
                sequence: try row.int32(),
                subscription: try row.int64(),
                person: try row.text()
            )
            message.wave = try row.int16OrNil()
            message.cell = try row.int16OrNil()
            message.variant = try row.int16OrNil()
            message.localAt = try row.doubleOrNil()
            return message
        }
        facts.exclusions = try all(try await query(Self.campaignExclusionsSQL, [.int64(id)])) { row in
            CampaignFacts.Exclusion(
                subscription: try row.int64(),
                person: try row.text(),
                reason: try row.text()
            )
        }
        facts.waves = try all(try await query(Self.campaignWavesSQL, [.int64(id)])) { row in
            CampaignFacts.Wave(
                number: try row.int16(),
                openedAt: try row.doubleOrNil(),
                passedAt: try row.doubleOrNil(),
                pause: try row.double()
            )
        }
        return facts
    }

    private static let campaignTimesSQL = """
        SELECT extract(epoch FROM d.started_at)::double precision,
            extract(epoch FROM d.started_at + e.decide_after)::double precision
        FROM pushmta_engine.delivery d LEFT JOIN pushmta_engine.experiment e ON e.delivery_id = d.id
        WHERE d.id = $1
        """

    /// Retry parts repeat messages of the first parts. The zone is the subscription's, not the one that a part has.
    private static let campaignMessagesSQL = """
        SELECT coalesce(t.sequences[u.place], (t.first_sequence + u.place - 1)::integer), u.id,
            coalesce(nullif(s.user_key, ''), s.id::text), p.wave, p.cell, p.variant,
            extract(epoch FROM n.local_time AT TIME ZONE coalesce(z.name, v.time_zone))::double precision
        FROM pushmta_engine.delivery_part p
        JOIN pushmta_engine.delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
        JOIN pushmta_engine.application a ON a.id = p.application_id
        JOIN pushmta_engine.service v ON v.id = a.service_id
        LEFT JOIN pushmta_engine.delivery_plan n ON n.delivery_id = p.delivery_id
        CROSS JOIN LATERAL unnest(t.subscription_ids) WITH ORDINALITY u(id, place)
        JOIN pushmta_engine.subscription s ON s.id = u.id
        LEFT JOIN pushmta_engine.time_zone z ON z.name = s.time_zone
        WHERE p.delivery_id = $1 AND p.parent_part_id IS NULL
        ORDER BY 1
        """

    private static let campaignExclusionsSQL = """
        SELECT s.id, coalesce(nullif(s.user_key, ''), s.id::text), e.reason
        FROM pushmta_engine.delivery d
        JOIN pushmta_engine.exclusion_log e ON e.log_day = d.log_day AND e.delivery_id = d.id
        JOIN pushmta_engine.subscription s ON s.id = e.subscription_id
        WHERE d.id = $1
        ORDER BY s.id
        """

    private static let campaignWavesSQL = """
        SELECT w.number, extract(epoch FROM w.opened_at)::double precision,
            extract(epoch FROM w.passed_at)::double precision,
            coalesce(extract(epoch FROM w.starts_after), 0)::double precision
        FROM pushmta_engine.delivery_wave w WHERE w.delivery_id = $1 ORDER BY w.number
        """
}
