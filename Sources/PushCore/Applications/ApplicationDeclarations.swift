/// What an application declares beside its address: variables, sounds, and the parameters of its subscriptions.
public struct ApplicationDeclarations: Sendable, Hashable {
    /// What its code understands in a message.
    public var variables: [ApplicationVariable]
    /// What it can play.
    public var sounds: [ApplicationSound]
    /// What its code gives with a registration.
    public var parameters: [SubscriptionParameter]

    /// Declarations; names must be unique.
    public init(
        variables: [ApplicationVariable] = [],
        sounds: [ApplicationSound] = [],
        parameters: [SubscriptionParameter] = []
    ) {
        self.variables = variables
        self.sounds = sounds
        self.parameters = parameters
    }

    /// Adds a variable, or replaces the one of its name.
    public mutating func declare(_ variable: ApplicationVariable) {
        variables = variables.filter { $0.name != variable.name } + [variable]
    }

    /// Adds a sound, or replaces the one of its name.
    public mutating func declare(_ sound: ApplicationSound) {
        sounds = sounds.filter { $0.name != sound.name } + [sound]
    }

    /// Adds a subscription parameter, or replaces the one of its name; two cannot be kept in one column.
    public mutating func declare(_ parameter: SubscriptionParameter) throws(DeclarationError) {
        if let other = parameters.first(where: { $0.column == parameter.column && $0.name != parameter.name }) {
            throw DeclarationError(
                "subscription parameter \"\(parameter.name)\"",
                "parameter \"\(other.name)\" is kept in \(parameter.column) already",
                "choose another column"
            )
        }
        parameters = parameters.filter { $0.name != parameter.name } + [parameter]
    }

    /// Puts what a device gave under the declared names where it belongs; other names are parameters of the subscription.
    public func place(_ given: [String: String]) -> [SubscriptionParameter.Column: String] {
        let columns = Dictionary(parameters.map { ($0.name, $0.column) }, uniquingKeysWith: { first, _ in first })
        var placed: [SubscriptionParameter.Column: String] = [:]
        for (name, value) in given where columns[name] == nil { placed[.parameter(name)] = value }
        // A declared name wins over one that happens to be called like its column.
        for (name, column) in columns { if let value = given[name] { placed[column] = value } }
        return placed
    }
}
