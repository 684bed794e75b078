"""What prompts and answers are made of: a small exact tokenizer, a chat template, drawn answers."""
