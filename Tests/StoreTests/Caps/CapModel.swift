import Store

/// Frequency caps as a plain list of what was counted. Times are minutes since the first day of the model, in UTC.
struct CapModel {
    struct Delivery {
        let minute: Int
        let category: String?

        var day: Int { minute / 1_440 }
    }

    struct Key: Hashable {
        let delivery: Int64
        let person: Int64
    }

    /// The category that is exempt unless a cap names it.
    static let exempt = "transactional"
    /// How far time zones are ahead of UTC, in minutes; they change no clocks. Others stand for the service's, UTC.
    static let zones = ["": 0, "Asia/Tokyo": 540, "America/Phoenix": -420, "nowhere": 0]

    var caps: [String: FrequencyCapRow] = [:]
    var deliveries: [Int64: Delivery] = [:]
    /// The messages of a delivery to a person that have not ended unsent.
    var messages: [Key: Int] = [:]

    static func covers(_ cap: FrequencyCapRow, _ category: String?) -> Bool {
        guard let categories = cap.categories else { return category != exempt }
        return category.map(categories.contains) ?? false
    }

    func caps(of delivery: Delivery) -> [FrequencyCapRow] {
        caps.values.filter { Self.covers($0, delivery.category) }
    }

    /// Whether a person, whose devices are in one zone, may get a message of a delivery.
    func passes(_ person: Int64, zone: String, _ id: Int64) -> Bool {
        guard let delivery = deliveries[id] else { return false }
        return caps(of: delivery).allSatisfy { cap in
            let counted = messages.filter { key, count in
                guard key.person == person, key.delivery != id, count > 0, let other = deliveries[key.delivery] else {
                    return false
                }
                return Self.covers(cap, other.category) && Self.counts(cap, other, delivery, zone)
            }
            return counted.count < Int(cap.maxMessages)
        }
    }

    private static func counts(_ cap: FrequencyCapRow, _ other: Delivery, _ delivery: Delivery, _ zone: String) -> Bool
    {
        switch cap.unit {
        case .hours: return other.minute > delivery.minute - Int(cap.length) * 60
        case .days: return other.day > delivery.day - Int(cap.length)
        case .recipientDay:
            let offset = zones[zone] ?? 0
            // Days before the first one are not needed: the model begins with its second day.
            return (other.minute + offset) / 1_440 == (delivery.minute + offset) / 1_440
        }
    }

    mutating func drop(_ id: Int64) {
        messages = messages.filter { $0.key.delivery != id }
    }

    mutating func forget(_ person: Int64) {
        messages = messages.filter { $0.key.person != person }
    }
}
