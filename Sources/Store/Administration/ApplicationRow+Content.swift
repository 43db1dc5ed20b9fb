import PushCore

/// What the application's declarations mean for a content.
extension ApplicationRow {
    /// What of a content the application would not understand; see `ApplicationDeclarations`.
    public func problems(content: String) -> [ContentProblem] {
        declared?.problems(content: content, platform: platform) ?? []
    }

    /// The content with the default values of declared variables that it does not give.
    public func completed(content: String) -> String {
        declared?.completed(content: content, platform: platform) ?? content
    }

    /// Nil if they are stored in a form that this program does not know: a delivery then goes as its content is.
    private var declared: ApplicationDeclarations? {
        try? ApplicationDeclarations(variables: variables, sounds: sounds, parameters: "[]")
    }
}
