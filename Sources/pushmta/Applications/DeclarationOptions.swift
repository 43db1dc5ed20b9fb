import Administration
import ArgumentParser
import Content
import Foundation
import PushCore

/// Declarations of an application, as typed.
struct DeclarationOptions: ParsableArguments {
    @Option(
        name: .customLong("variable"),
        help: ArgumentHelp(
            "Declare a variable; may be repeated.",
            discussion:
                "The type is text, integer, number, boolean or url. The default applies if a delivery gives no value.",
            valueName: "NAME:TYPE[=DEFAULT]"
        )
    )
    var variables: [String] = []

    @Option(
        name: .customLong("variable-label"),
        help: ArgumentHelp("Label a declared variable for people; may be repeated.", valueName: "NAME=LABEL")
    )
    var variableLabels: [String] = []

    @Option(name: .customLong("remove-variable"), help: "Remove a variable; may be repeated.")
    var removedVariables: [String] = []

    @Option(
        name: .customLong("sound"),
        help: ArgumentHelp("Declare a sound file of the app; may be repeated.", valueName: "FILE[=LABEL]")
    )
    var sounds: [String] = []

    @Option(
        name: .customLong("system-sound"),
        help: ArgumentHelp("Declare a system sound; may be repeated.", valueName: "NAME[=LABEL]")
    )
    var systemSounds: [String] = []

    @Option(name: .customLong("remove-sound"), help: "Remove a sound; may be repeated.")
    var removedSounds: [String] = []

    @Option(
        name: .customLong("parameter"),
        help: ArgumentHelp(
            "Declare a subscription parameter; may be repeated.",
            discussion: """
                The name is the one that the app's code passes when it registers. The column says where the value is \
                stored: user_key, locale, time_zone, recipient.NAME or parameters.NAME (default: parameters.NAME with \
                the same name).
                """,
            valueName: "NAME[=COLUMN]"
        )
    )
    var parameters: [String] = []

    @Option(
        name: .customLong("zone-parameter"),
        help: ArgumentHelp(
            "Declare a subscription parameter whose value is the time zone.",
            discussion: """
                It counts where the subscription itself has no time zone, and only if PostgreSQL knows it; otherwise the \
                service's zone does. The column is recipient.NAME or parameters.NAME. --parameter with its name takes \
                the mark away.
                """,
            valueName: "NAME[=COLUMN]"
        )
    )
    var zoneParameter: String?

    @Option(name: .customLong("remove-parameter"), help: "Remove a subscription parameter; may be repeated.")
    var removedParameters: [String] = []

    @Option(
        help: "A PNG file of \(ApplicationIcon.side)×\(ApplicationIcon.side) pixels for previews."
    )
    var icon: String?

    /// Whether any declaration was given.
    var isEmpty: Bool {
        variables.isEmpty && variableLabels.isEmpty && removedVariables.isEmpty && sounds.isEmpty
            && systemSounds.isEmpty && removedSounds.isEmpty && parameters.isEmpty && zoneParameter == nil
            && removedParameters.isEmpty
    }

    /// The checked icon; nil if none was given.
    func checkedIcon() throws -> ApplicationIcon? {
        guard let icon else { return nil }
        let data = try SmallFile.contents(icon, "icon", "give the path of a PNG file")
        do {
            return try ApplicationIcon(png: Array(data))
        } catch {
            throw CommandFailure(.data, "The icon \(icon): \(error.cause); \(error.remedy)")
        }
    }

    /// The declarations with the typed changes; throws if the application cannot declare them.
    func applied(to earlier: ApplicationDeclarations, platform: Platform) throws -> ApplicationDeclarations {
        var declared = earlier
        do {
            try apply(to: &declared, platform)
        } catch {
            throw CommandFailure(.data, "The application cannot declare \(error)")
        }
        return declared
    }

    private func apply(to declared: inout ApplicationDeclarations, _ platform: Platform) throws(DeclarationError) {
        try Self.refuseTwice(variables.map { String($0.prefix { $0 != ":" && $0 != "=" }) }, "variable")
        try Self.refuseTwice((sounds + systemSounds).map { Self.halves($0).0 }, "sound")
        let named = zoneParameter.map { parameters + [$0] } ?? parameters
        try Self.refuseTwice(named.map { Self.halves($0).0 }, "subscription parameter")
        for text in variables {
            declared.declare(try variable(text, platform, among: declared.variables))
        }
        for text in variableLabels { try label(text, platform, &declared) }
        for text in sounds { declared.declare(try sound(text, isSystem: false)) }
        for text in systemSounds { declared.declare(try sound(text, isSystem: true)) }
        for text in parameters {
            let (name, column) = Self.halves(text)
            try declared.declare(try SubscriptionParameter(name: name, column: column))
        }
        if let zoneParameter {
            let (name, column) = Self.halves(zoneParameter)
            try declared.declare(try SubscriptionParameter(name: name, column: column, isTimeZone: true))
        }
        try Self.remove(removedVariables, "variable", from: &declared.variables, \.name)
        try Self.remove(removedSounds, "sound", from: &declared.sounds, \.name)
        try Self.remove(removedParameters, "subscription parameter", from: &declared.parameters, \.name)
    }

    private func variable(
        _ text: String,
        _ platform: Platform,
        among earlier: [ApplicationVariable]
    ) throws(DeclarationError) -> ApplicationVariable {
        let (declaration, defaultValue) = Self.halves(text)
        let parts = declaration.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let type = ApplicationVariable.Kind(rawValue: parts[1]) else {
            throw DeclarationError(
                "variable \"\(parts[0])\"",
                "its type is missing or unknown",
                "write NAME:TYPE or NAME:TYPE=DEFAULT; types are "
                    + ApplicationVariable.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        return try ApplicationVariable(
            name: parts[0],
            type: type,
            defaultValue: defaultValue,
            label: earlier.first { $0.name == parts[0] }?.label ?? "",
            platform: platform
        )
    }

    private func label(
        _ text: String,
        _ platform: Platform,
        _ declared: inout ApplicationDeclarations
    ) throws(DeclarationError) {
        let (name, label) = Self.halves(text)
        guard let variable = declared.variables.first(where: { $0.name == name }) else {
            throw DeclarationError(
                "label of variable \"\(name)\"",
                "no such variable is declared",
                "declare it with --variable"
            )
        }
        declared.declare(
            try ApplicationVariable(
                name: name,
                type: variable.type,
                defaultValue: variable.defaultValue,
                label: label ?? "",
                platform: platform
            )
        )
    }

    private func sound(_ text: String, isSystem: Bool) throws(DeclarationError) -> ApplicationSound {
        let (name, label) = Self.halves(text)
        return try ApplicationSound(name: name, label: label ?? "", isSystem: isSystem)
    }

    /// The first of two declarations with the same name would have no effect.
    private static func refuseTwice(_ names: [String], _ thing: String) throws(DeclarationError) {
        guard let twice = names.first(where: { name in names.filter { $0 == name }.count > 1 }) else { return }
        throw DeclarationError("\(thing) \"\(twice)\"", "it appears twice", "give it once")
    }

    private static func remove<Element>(
        _ names: [String],
        _ thing: String,
        from elements: inout [Element],
        _ name: (Element) -> String
    ) throws(DeclarationError) {
        for removed in names {
            guard elements.contains(where: { name($0) == removed }) else {
                let known = elements.map(name).joined(separator: ", ")
                throw DeclarationError("\(thing) \"\(removed)\"", "it is not declared", "declared are: \(known)")
            }
            elements.removeAll { name($0) == removed }
        }
    }

    /// The texts before and after the first equals sign.
    private static func halves(_ text: String) -> (String, String?) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return (parts[0], parts.count == 2 ? parts[1] : nil)
    }
}
