/// How many messages of an analysed delivery go to an application's subscribers of a locale and time zone, in a
/// wave and with a variant.
package struct DeliveryCountRow: Sendable, Hashable {
    package let application: String
    package let locale: String
    package let timeZone: String
    /// The number of the wave; 0 without waves.
    package let wave: Int16
    /// The number of the variant, 9 for the rest, which gets the winner; 0 if the delivery is no experiment.
    package let variant: Int16
    package let messages: Int64

    init(_ row: inout RowReader) throws {
        application = try row.text()
        locale = try row.text()
        timeZone = try row.text()
        wave = try row.int16()
        variant = try row.int16()
        messages = try row.int64()
    }
}

extension DeliveryCountRow {
    /// The wave as a name, empty without waves.
    package var waveName: String { wave == 0 ? "" : "\(wave)" }

    /// Whether they wait for the winner of an experiment.
    package var isRest: Bool { variant == 9 }

    /// The variant as a name, empty if the delivery is no experiment.
    package var variantName: String { variant == 0 ? "" : isRest ? "rest" : "\(variant)" }
}

extension [DeliveryCountRow] {
    /// The messages by application, locale, time zone, wave or variant, the most first.
    package func sums(by key: KeyPath<DeliveryCountRow, String>) -> [(name: String, messages: Int64)] {
        let sums = Dictionary(self.map { ($0[keyPath: key], $0.messages) }, uniquingKeysWith: +)
        let sorted = sums.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return sorted.map { (name: $0.key, messages: $0.value) }
    }
}
