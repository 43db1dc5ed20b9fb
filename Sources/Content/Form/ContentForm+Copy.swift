import PushCore

/// What a content says on one platform, for the other one.
extension ContentForm {
    /// The fields that mean the same on both platforms. Sounds and clicks do not: they name files and screens of an app.
    private static let counterparts: [(ios: String, android: String)] = [
        ("title", "title"), ("body", "body"), ("media_url", "image"), ("collapse_id", "tag"),
    ]

    /// The same form with what a platform says also for another one.
    ///
    /// - Parameter overwrites: whether the other one's own values are replaced; otherwise they stay.
    package func copied(from source: Platform, to goal: Platform, overwrites: Bool = false) -> ContentForm {
        var form = self
        for (name, counterpart) in pairs(source, goal) {
            guard let counterpart, overwrites || (values[counterpart] ?? "").isEmpty else { continue }
            form.values[counterpart] = values[name]
        }
        return form
    }

    /// What the other platform says differently, and keeps unless it is overwritten: its keys, each with the locale
    /// ("" for everybody else).
    package func kept(from source: Platform, to goal: Platform) -> [(key: String, locale: String)] {
        pairs(source, goal).compactMap { name, counterpart in
            guard let counterpart, let own = values[counterpart], !own.isEmpty, own != values[name] else { return nil }
            let locale = localeNames.first { counterpart.hasPrefix("locales.\($0).\(goal.rawValue).") } ?? ""
            let place = locale.isEmpty ? "" : "locales.\(locale)."
            let key = counterpart.dropFirst(place.count + goal.rawValue.count + 1)
            return (key: String(key), locale: locale)
        }
    }

    /// The keys of a platform with a value that another one does not have, in order.
    package func keysMissing(on goal: Platform, of source: Platform) -> [String] {
        let names = pairs(source, goal).filter { $0.counterpart == nil }.map { pair in
            pair.name.split(separator: ".").drop { $0 != source.rawValue }.dropFirst().joined(separator: ".")
        }
        return Set(names).sorted()
    }

    /// The names of a platform's values, each with that of its counterpart; nil if there is none.
    private func pairs(_ source: Platform, _ goal: Platform) -> [(name: String, counterpart: String?)] {
        let places = [""] + localeNames.map { "locales.\($0)." }
        return values.keys.sorted().compactMap { name in
            guard !(values[name] ?? "").isEmpty,
                let place = places.first(where: { name.hasPrefix("\($0)\(source.rawValue).") })
            else { return nil }
            let key = String(name.dropFirst(place.count + source.rawValue.count + 1))
            return (name, counterpart(of: key, source, goal).map { "\(place)\(goal.rawValue).\($0)" })
        }
    }

    private func counterpart(of key: String, _ source: Platform, _ goal: Platform) -> String? {
        let variable = "variables."
        if key.hasPrefix(variable) {
            let name = key.dropFirst(variable.count)
            return (variables[goal] ?? []).contains { $0.name == name } ? key : nil
        }
        return Self.counterparts.first { (source == .ios ? $0.ios : $0.android) == key }
            .map { goal == .ios ? $0.ios : $0.android }
    }
}
