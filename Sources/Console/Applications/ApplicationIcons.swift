import Store

/// The paths of application icons, for pages.
struct ApplicationIcons: Sendable {
    /// The query parameter that changes with an application, so that browsers may cache an image under such a path.
    static let version = "v"

    private var paths: [String: String] = [:]

    init() {}

    static func read(_ database: ConsoleDatabase) async throws -> ApplicationIcons {
        var icons = ApplicationIcons()
        for icon in try await database.run({ try await $0.iconVersions() }) {
            icons.paths[icon.application] = "\(ApplicationPage.path("\(icon.id)"))/icon?\(version)=\(icon.version)"
        }
        return icons
    }

    /// Adds `iconPath` to the values of an application, if it has an icon.
    func add(to values: inout PageValues, _ application: String) {
        if let path = paths[application] { values["iconPath"] = .text(path) }
    }
}
