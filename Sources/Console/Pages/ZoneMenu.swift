import Store

/// The choice of the time zone in which the times of a form are typed.
struct ZoneMenu: Sendable {
    static let utc = "UTC"

    /// The zones that the database knows.
    let known: [String]
    let chosen: String

    /// What the template of the menu shows.
    ///
    /// - Parameter field: the name of the form's field.
    func values(_ field: String) -> PageValue {
        // A zone that this server no longer knows is still offered.
        let offered = known.contains(chosen) ? known : [chosen] + known
        return .group([
            "zoneField": .text(field),
            "zones": .list(offered.map { ["value": .text($0), "isChosen": .flag($0 == chosen)] }),
        ])
    }

    /// Why a typed time is no moment in a zone, nil if it is one.
    static func problem(_ found: ZonedMoment?, _ typed: String, _ zone: String, _ catalogue: Catalogue) -> String? {
        let shown = typed.replacing("T", with: " ")
        return switch found {
        case .once?: nil
        case .skipped?: catalogue.text(.momentSkipped, shown, zone)
        case .twice(let first, let second)?:
            catalogue.text(.momentTwice, shown, zone, Figures.minute(first), Figures.minute(second))
        case nil: catalogue.text(.zoneUnknown, zone)
        }
    }
}
