import Store

/// A moment that a form has as a local time and a time zone.
extension Composer {
    /// The name of the field with the time zone.
    static let zoneField = "zone"

    /// Reads a typed time in a zone. Throws a conflict if it is no time, or if the zone's clock skips or repeats it.
    func moment(_ text: String, in zone: String) async throws -> DatabaseTime {
        guard case .some(.some(let plain)) = Self.moment(text, isNow: false) else {
            throw ConsoleProblem.conflict(catalogue[.noMoment])
        }
        guard zone != ZoneMenu.utc else { return plain }
        let found = try await responder.database.run { try await $0.moments(of: [text], in: zone) }[text]
        if case .once(let moment)? = found { return moment }
        throw ConsoleProblem.conflict(ZoneMenu.problem(found, text, zone, catalogue) ?? catalogue[.noMoment])
    }

    /// A moment in UTC, and before that as it was typed in another zone.
    func shown(_ moment: DatabaseTime, _ text: String, _ zone: String) -> String {
        let plain = Figures.minute(moment)
        return zone == ZoneMenu.utc ? plain : "\(Figures.local(text, zone)) (\(plain))"
    }

    /// A moment as a field with a time has it, in UTC: without seconds unless there are some.
    static func text(_ moment: DatabaseTime) -> String {
        let text = moment.internetText.prefix(19)
        return String(text.hasSuffix(":00") ? text.dropLast(3) : text)
    }
}
