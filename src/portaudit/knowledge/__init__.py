"""Facts and rules of rules/, decoded, indexed and looked up. Never looks at a scanned file."""
