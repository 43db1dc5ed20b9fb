import Foundation
import PostgresClient
import PushCore

/// A subscriber with random values, for the database and for the model.
struct PersonRow {
    let id: Int64
    private(set) var hasPerson = false
    private(set) var exclusion: String?
    private var fields: [TargetField: ModelSubscriber.Value] = [:]
    private(set) var subscriptionValues: [PostgresValue] = []
    private(set) var personValues: [PostgresValue] = []
    private var recipient: [String] = []

    /// Now, in microseconds since 1970. The rows' times are half an hour off a whole distance from it.
    private static let now = Int64(Date.now.timeIntervalSince1970) * 1_000_000

    init(id: Int64) { self.id = id }

    var model: ModelSubscriber { ModelSubscriber(id: id, fields: fields) }

    static let subscriptionSQL = """
        INSERT INTO pushmta_engine.subscription (id, application_id, push_token, user_key, locale, registered_at, last_error_at,
            soft_errors, opted_out, enabled, quarantine_status, recipient, parameters, device)
        OVERRIDING SYSTEM VALUE
        VALUES ($1, $2, 'token-' || $1::bigint, $3, $4, $5, $6::timestamptz, $7, $8, $9, $10, $11::text::jsonb, $12::text::jsonb,
            $13::text::jsonb)
        """

    static let personSQL = """
        INSERT INTO crm.person (key, name, "sel""ect", age, score, vip, born, joined)
        VALUES ($1, $2, $3, $4::integer, $5::text::numeric, $6::boolean, $7::text::date, $8::timestamptz)
        """

    mutating func fill(_ generator: inout FilterGenerator) {
        let isIOS = generator.below(2) == 0
        let key = generator.below(4) == 0 ? "" : "u\(id)"
        let locale = generator.pick(["", "fr", "fr-CA", "de"])
        let registered = moment(&generator)
        let lastError = generator.below(2) == 0 ? nil : moment(&generator)
        let errors = Int16(generator.below(12))
        let (optedOut, isDisabled) = (generator.below(12) == 0, generator.below(12) == 0)
        let quarantine = Int16(generator.below(8) == 0 ? generator.below(4) : 0)
        exclusion = optedOut ? "opted_out" : quarantine >= 2 ? "quarantine" : isDisabled ? "disabled" : nil
        set(.column(.subscriptionID), .number(Decimal(id)))
        set(.column(.application), .text(isIOS ? "shop-ios" : "shop-android"))
        set(.column(.platform), .text(isIOS ? "ios" : "android"))
        set(.column(.environment), .text("production"))
        set(.column(.userKey), key.isEmpty ? nil : .text(key))
        set(.column(.locale), locale.isEmpty ? nil : .text(locale))
        set(.column(.registeredAt), .time(registered))
        set(.column(.lastErrorAt), lastError.map { .time($0) })
        set(.column(.softErrors), .number(Decimal(Int(errors))))
        set(.column(.optedOut), .boolean(optedOut))
        set(.column(.quarantineStatus), .text(["valid", "with_errors", "quarantine", "denylisted"][Int(quarantine)]))
        subscriptionValues = [
            .int64(id), .int32(isIOS ? 1 : 2), .text(key), .text(locale), .timestamp(microsecondsSince1970: registered),
            lastError.map { .timestamp(microsecondsSince1970: $0) } ?? .null, .int16(errors), .bool(optedOut),
            .bool(!isDisabled), .int16(quarantine),
            object([.recipient("city"), .recipient("it's \"odd\"")], &generator),
            object([.parameter("tier")], &generator),
            object([.device("model")], &generator),
        ]
        if !key.isEmpty, generator.below(4) > 0 { fillPerson(key, &generator) }
    }

    private mutating func fillPerson(_ key: String, _ generator: inout FilterGenerator) {
        hasPerson = true
        let name = generator.below(5) == 0 ? nil : generator.pick(FilterGenerator.texts)
        let other = generator.pick(FilterGenerator.texts)
        let age = generator.below(4) == 0 ? nil : Int32(generator.below(12))
        let score = generator.below(4) == 0 ? nil : generator.pick(["-1.50", "7.00", "8.25", "100.10"])
        let vip = generator.below(3) == 0 ? nil : generator.below(2) == 0
        let born = generator.pick(["0001-01-01", "2026-01-31"])
        let joined = moment(&generator)
        set(.mapping("name"), name.map { .text($0) })
        set(.mapping("sel\"ect"), .text(other))
        set(.mapping("age"), age.map { .number(Decimal(Int($0))) })
        set(.mapping("score"), score.flatMap { Decimal(string: $0) }.map { .number($0) })
        set(.mapping("vip"), vip.map { .boolean($0) })
        set(.mapping("born"), FilterGenerator.times[born].map { .time($0) })
        set(.mapping("joined"), .time(joined))
        personValues = [
            .text(key), name.map { .text($0) } ?? .null, .text(other), age.map { .int32($0) } ?? .null,
            score.map { .text($0) } ?? .null, vip.map { .bool($0) } ?? .null, .text(born),
            .timestamp(microsecondsSince1970: joined),
        ]
    }

    private mutating func set(_ field: TargetField, _ value: ModelSubscriber.Value?) { fields[field] = value }

    /// Half an hour off any distance in filters, so that the duration of the run does not matter.
    private func moment(_ generator: inout FilterGenerator) -> Int64 {
        if generator.below(4) == 0 { return generator.pick(FilterGenerator.times.values.sorted()) }
        return Self.now - (Int64(generator.below(60) - 10) * 86_400 + 1_800) * 1_000_000
    }

    /// A JSON object of fields with values of every JSON type; some fields are absent.
    private mutating func object(_ names: [TargetField], _ generator: inout FilterGenerator) -> PostgresValue {
        if generator.below(8) == 0 { return .null }
        var members: [String] = []
        for field in names {
            let name =
                switch field {
                case .recipient(let name), .parameter(let name), .device(let name), .mapping(let name): name
                case .column(let column): column.rawValue
                }
            let (json, text): (String, String?)
            switch generator.below(8) {
            case 0: continue
            case 1: (json, text) = ("null", nil)
            case 2: (json, text) = ("true", "true")
            case 3:
                let digits = generator.pick(["7", "10", "-1.5", "8.250"])
                (json, text) = (digits, digits)
            default:
                let value = generator.pick(FilterGenerator.texts)
                (json, text) = (Self.quoted(value), value)
            }
            members.append("\(Self.quoted(name)):\(json)")
            set(field, text.map { .text($0) })
        }
        return .text("{" + members.joined(separator: ",") + "}")
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
